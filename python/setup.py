"""pip install ./python"""
from setuptools import setup

setup(name="headlight", version="1.0.0", packages=["headlight"], license="MIT", python_requires=">=3.9",
      package_data={"": ["*.js", "*.json", "*.pyi", "py.typed"]}, install_requires=["numpy"],
      description="See the attention in your code")
