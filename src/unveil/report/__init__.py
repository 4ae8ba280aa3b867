"""Results for people: an HTML page, terminal text, notebook markup, and the JSON schema.

Everything here renders an :class:`~unveil.assessment.Assessment`; nothing here measures.

- :mod:`unveil.report.charts`: a curve as a static SVG;
- :mod:`unveil.report.link_charts`: candidate pairs as a static SVG, a graph or a matrix;
- :mod:`unveil.report.html`: assessments as one self-contained page, or as a fragment for a notebook;
- :mod:`unveil.report.terminal`: an assessment as terminal text;
- :mod:`unveil.report.schema`: the published schema of the JSON;
- :mod:`unveil.report.phrases`: the phrases that all of them share.

Import the modules by name; this file stays empty so that the command line starts quickly.
"""

__all__: list[str] = []
