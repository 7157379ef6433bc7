"""Modules that all other folders share: element types, settings, compilers and libraries."""
