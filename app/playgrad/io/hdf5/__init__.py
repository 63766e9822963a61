"""HDF5, as far as files of Keras need it, without the HDF5 library.

The library reads far more than weights: links to other files, filters, data sets that are put
together from others. Reading nothing else makes unknown files safe, and needs no library in the
page. The format is that of "HDF5 File Format Specification", version 3.0, with version 0 of
the superblock, which h5py writes.
"""
