"""pip install ./python"""
from setuptools import setup

setup(name="headlight", version="1.0.0", packages=["headlight"], package_data={"": ["*.json", "*.pyi", "py.typed"]},
      description="See the attention in your code", license="MIT", python_requires=">=3.9", install_requires=["numpy"])
