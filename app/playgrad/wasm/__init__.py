"""WebAssembly with SIMD, written by Python: kernels for processors in a page.

`module` encodes modules, `code` builds functions, the other modules are kernels. Instructions and
encodings are those of the WebAssembly Core Specification 3.0.
"""
