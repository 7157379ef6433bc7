"""What other folders share and nothing computes with: element types, settings, compilers,
libraries.
"""
