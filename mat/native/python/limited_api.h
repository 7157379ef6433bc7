/* Python's limited C interface of 3.11, as all files of this folder use it. */
#ifndef MAT_LIMITED_API_H
#define MAT_LIMITED_API_H

#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#include <pythread.h>
#include <stdint.h>
#include <stdlib.h>
#include <structmember.h>

/* Later headers return these without counting references, since they are immortal there; on 3.11,
   on which this runs too, they are not. */
#undef Py_RETURN_TRUE
#undef Py_RETURN_FALSE
#undef Py_RETURN_NONE
#define Py_RETURN_TRUE return Py_NewRef(Py_True)
#define Py_RETURN_FALSE return Py_NewRef(Py_False)
#define Py_RETURN_NONE return Py_NewRef(Py_None)

#endif
