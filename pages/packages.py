"""Packages: what would each whole package cost, and what evidence stands behind it?"""

from gpucost.dashboard import desk_parts, package_parts
from gpucost.dashboard.desk import current_desk, current_review, current_tariffs
from gpucost.dashboard.layout import next_step, page_header
from gpucost.dashboard.wording import say

_ = say().gettext

page_header(_("Packages"), _("The whole price of each package of 3, 7 or 30 days, and the evidence behind it."))
desk, review, tariffs = current_desk(), current_review(), current_tariffs()
desk_parts.provenance(desk, review)
package_parts.tariff_line(tariffs)
package_parts.nothing_projected()
if tariffs.offers:
    table = package_parts.choose(review, tariffs)
    package_parts.package_table(table)
    package_parts.price_ratio_line(table)
    package_parts.unattached(review, tariffs)
    package_parts.computation_download(table, tariffs, review)
package_parts.tariff_findings(tariffs)
package_parts.tariff_editor(tariffs)
next_step("protocol.py", _("Read the method and the rules"))
