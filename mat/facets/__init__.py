"""The facets that `mat` comes with; each file registers its own, as an outsider's would."""
