"""Measure: what will run, is it running, where is it?"""

from gpucost.dashboard import measure_parts, memory_parts
from gpucost.dashboard.layout import next_step, page_header
from gpucost.dashboard.wording import say
from gpucost.dashboard.workshop import may_launch, offered_protocols, offered_runs

_ = say().gettext

page_header(_("Measure"), _("From a written protocol to honest rows: what will run, whether it runs, and where it is."))
allowed = may_launch()
if not allowed:
    measure_parts.why_no_launch()
runs = offered_runs()
view = measure_parts.choose_view(runs)
if view == "runs":
    measure_parts.follow(runs, allowed=allowed)
elif view == "new":
    measure_parts.new_run(offered_protocols(), allowed=allowed)
else:
    memory_parts.memory_lesson(allowed=allowed)
next_step("review.py", _("Review every pass"))
