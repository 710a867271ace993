"""pip install ./python"""
from setuptools import setup

setup(name="headlight", version="1.0.0", packages=["headlight"], python_requires=">=3.9", install_requires=["numpy"],
      description="Look into the attention that is running in your own code", license="MIT")
