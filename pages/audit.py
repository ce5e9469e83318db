"""Audit: do these outputs carry this corpus?"""

from gpucost.dashboard import audit_parts
from gpucost.dashboard.desk import current_desk, current_review
from gpucost.dashboard.layout import next_step, page_header
from gpucost.dashboard.wording import say

_ = say().gettext

page_header(_("Audit"), _("Whether individual outputs carry a whole corpus: every expected ID once, and no other."))
kind = audit_parts.choose_kind(current_desk())
if kind == "folder":
    audit_parts.folder_audit(current_desk(), current_review())
else:
    audit_parts.upload_audit()
next_step("review.py", _("Review every pass"))
