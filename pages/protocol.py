"""Protocol: what are the rules?"""

from gpucost.dashboard import protocol_parts
from gpucost.dashboard.layout import next_step, page_header
from gpucost.dashboard.wording import say

_ = say().gettext

page_header(_("Protocol"), _("The method, the columns of the CSV, every rule, and the template."))
protocol_parts.method()
protocol_parts.template_download()
protocol_parts.columns_table()
protocol_parts.rules_table()
next_step("overview.py", _("See what lies on the desk"))
