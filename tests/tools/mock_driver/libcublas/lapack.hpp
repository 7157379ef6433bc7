/* LAPACK's functions that SciPy exports to Cython, called by their pointers. */
#ifndef MAT_MOCK_LAPACK_HPP
#define MAT_MOCK_LAPACK_HPP

#include <dlfcn.h>

#include <map>
#include <string>
#include <vector>

#include "numbers.hpp"

namespace lapack {

template<class X> struct Real { typedef X type; enum { prefix = sizeof(X) == 4 ? 's' : 'd' }; };
template<class R> struct Real<std::complex<R>> {
    typedef R type;
    enum { prefix = sizeof(R) == 4 ? 'c' : 'z' };
};

static std::map<std::string, void *> functions;

template<class F> static F python(const char *name) {  // of the process, an interpreter
    return reinterpret_cast<F>(dlsym(RTLD_DEFAULT, name));
}

// Finds the functions; returns whether they are all there.
static bool load() {
    typedef void *Object;
    if (!functions.empty()) return true;
    auto import = python<Object (*)(const char *)>("PyImport_ImportModule");
    auto attribute = python<Object (*)(Object, const char *)>("PyObject_GetAttrString");
    auto item = python<Object (*)(Object, const char *)>("PyDict_GetItemString");
    auto name_of = python<const char *(*)(Object)>("PyCapsule_GetName");
    auto pointer = python<void *(*)(Object, const char *)>("PyCapsule_GetPointer");
    int state = python<int (*)()>("PyGILState_Ensure")();
    Object module = import("scipy.linalg.cython_lapack");
    Object all = module ? attribute(module, "__pyx_capi__") : nullptr;
    for (const char *name : {"gesvd", "geqrf", "geev", "syevd", "heevd", "orgqr", "ungqr"})
        for (char prefix : {'s', 'd', 'c', 'z'}) {
            std::string whole = prefix + std::string(name);
            Object capsule = all ? item(all, whole.c_str()) : nullptr;
            if (capsule) functions[whole] = pointer(capsule, name_of(capsule));
        }
    python<void (*)(int)>("PyGILState_Release")(state);
    return functions.size() == 20;
}

template<class X, class... Args> static void call(const char *name, Args... args) {
    std::string whole = char(Real<X>::prefix) + std::string(name);
    reinterpret_cast<void (*)(Args...)>(functions.at(whole))(args...);
}

template<class X> constexpr bool is_complex = Real<X>::prefix == 'c' || Real<X>::prefix == 'z';

template<class X, class R>
static int gesvd(char job_u, char job_v, int m, int n, X *a, int lda, R *s, X *u, int ldu, X *v,
                 int ldv) {
    int size = 8 * (m + n) + 8, info = 0;
    std::vector<X> room(static_cast<size_t>(size));
    std::vector<R> reals(static_cast<size_t>(size));
    if constexpr (is_complex<X>)
        call<X>("gesvd", &job_u, &job_v, &m, &n, a, &lda, s, u, &ldu, v, &ldv, room.data(), &size,
                reals.data(), &info);
    else
        call<X>("gesvd", &job_u, &job_v, &m, &n, a, &lda, s, u, &ldu, v, &ldv, room.data(), &size,
                &info);
    return info;
}

template<class X, class R> static int syevd(char job, char fill, int n, X *a, int lda, R *w) {
    int size = 2 * n * n + 6 * n + 8, reals = size, integers = 5 * n + 8, info = 0;
    std::vector<X> room(static_cast<size_t>(size));
    std::vector<R> real_room(static_cast<size_t>(reals));
    std::vector<int> whole(static_cast<size_t>(integers));
    if constexpr (is_complex<X>)
        call<X>("heevd", &job, &fill, &n, a, &lda, w, room.data(), &size, real_room.data(), &reals,
                whole.data(), &integers, &info);
    else
        call<X>("syevd", &job, &fill, &n, a, &lda, w, room.data(), &size, whole.data(), &integers,
                &info);
    return info;
}

template<class X> static int geqrf(int m, int n, X *a, int lda, X *tau) {
    int size = n + 1, info = 0;
    std::vector<X> room(static_cast<size_t>(size));
    call<X>("geqrf", &m, &n, a, &lda, tau, room.data(), &size, &info);
    return info;
}

template<class X> static int orgqr(int m, int n, int k, X *a, int lda, const X *tau) {
    int size = n + 1, info = 0;
    std::vector<X> room(static_cast<size_t>(size));
    call<X>(is_complex<X> ? "ungqr" : "orgqr", &m, &n, &k, a, &lda, tau, room.data(), &size, &info);
    return info;
}

template<class X, class R>
static int geev(char job, int n, X *a, int lda, std::complex<R> *w, X *v, int ldv) {
    int size = 8 * n + 8, info = 0, one = 1;
    char none = 'N';
    std::vector<X> room(static_cast<size_t>(size));
    std::vector<R> first(static_cast<size_t>(size)), second(static_cast<size_t>(size));
    X *left = nullptr;
    if constexpr (is_complex<X>) {
        call<X>("geev", &none, &job, &n, a, &lda, w, left, &one, v, &ldv, room.data(), &size,
                first.data(), &info);
    } else {
        call<X>("geev", &none, &job, &n, a, &lda, first.data(), second.data(), left, &one, v, &ldv,
                room.data(), &size, &info);
        for (int k = 0; k < n; k++) w[k] = std::complex<R>(first[size_t(k)], second[size_t(k)]);
    }
    return info;
}

}  // namespace lapack

#endif
