"""What came out, for people: one page of HTML, a terminal text, notebook markup and the schema of the JSON.

Everything here renders an :class:`~unveil.assessment.Assessment`; nothing here measures.

- ``charts.py``: a curve becomes a static SVG;
- ``links.py``:  who may be whom becomes one, as a graph or a matrix;
- ``html.py``:   assessments become one self-contained page, or a fragment for a notebook;
- ``text.py``:   an assessment becomes terminal text;
- ``schema.py``: the published description of the JSON;
- ``words.py``:  the words that all of them use.

Import the modules by name; this file stays empty so that the command line starts quickly.
"""

__all__: list[str] = []
