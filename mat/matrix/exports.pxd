cimport cython

from libc.stdint cimport uintptr_t

from mat._core cimport HostBlocks, Threads
from mat.core.cube cimport Cube
from mat.core.export cimport ExportRecord
from mat.core.registration cimport Registration
from mat.layout.strided cimport Layout
from mat.matrix.base cimport MatBase, is_numpys
from mat.matrix.storage cimport Storage

cdef object _array_kept_by
cdef Registration _array
cdef Threads _threads
cdef HostBlocks _blocks
cdef list _observers
cdef Py_ssize_t MOST_APART


cdef class Export:
    cdef object __weakref__
    cdef readonly ExportRecord record
    @cython.locals(storage=Cube)
    cpdef begin(self, MatBase view, Registration facet)


@cython.locals(export=Export)
cdef Export _begun(MatBase view)

@cython.locals(export=Export)
cpdef object exported_array(MatBase view)

cpdef object copied_array(MatBase view, bint writable)

@cython.locals(layout=Layout, storage=Storage, address=uintptr_t)
cdef object _array_of_few(MatBase view, str order)
@cython.locals(layout=Layout, storage=Storage, address=uintptr_t, nbytes=Py_ssize_t)
cdef bytes _packed_bytes(MatBase view)
