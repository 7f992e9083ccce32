import type { CheckResult, ConformanceReport } from "../assertions/report.ts";
import { GROUPS, groupOf } from "../checks/all.ts";

/** Options of {@link printConformance}. */
export interface PrintOptions {
  /** Whether to use terminal colors. @default false */
  readonly color?: boolean;
}

const MARKS = { passed: "✓", failed: "✗", disturbed: "!", skipped: "-" } as const;
const COLORS = { passed: 32, failed: 31, disturbed: 35, skipped: 33, dim: 2 } as const;

/**
 * Formats a report for people, as lines that end in a newline: one for each check. A failed check also lists what is wrong
 * with which resource. Contains no credentials.
 */
export function printConformance(report: ConformanceReport, { color = false }: PrintOptions = {}): string {
  const paint = (text: string, with_: keyof typeof COLORS): string =>
    color ? `\u001b[${COLORS[with_]}m${text}\u001b[0m` : text;
  const { url, serverVersion, resources, passed, failed, disturbed, skipped, left, duration } = report;
  const out = [`${url}${serverVersion === "" ? "" : ` (${serverVersion})`}`];
  out.push(resources.length === 0 ? "no resources to check" : resources.join(", "));
  for (const [group, results] of Map.groupBy(report.results, ({ id }) => groupOf(id))) {
    out.push("", `${group} ${GROUPS[group] ?? ""}`.trimEnd());
    const checks = Map.groupBy(results, ({ id }) => id);
    const reason = onlyReason(results);
    if (checks.size > 1 && reason !== undefined)
      out.push(`  ${paint(MARKS.skipped, "skipped")} ${checks.size} checks`, `      skipped: ${reason}`);
    else for (const own of checks.values()) out.push(...printCheck(own, paint));
  }
  if (left.length > 0) out.push("", paint(`not deleted, delete by hand: ${left.join(", ")}`, "failed"));
  const counts = [
    paint(`${passed} passed`, "passed"),
    failed > 0 ? paint(`${failed} failed`, "failed") : "0 failed",
    ...(disturbed > 0 ? [paint(`${disturbed} disturbed`, "disturbed")] : []),
    `${skipped} skipped`,
  ];
  return `${[...out, "", `${counts.join(", ")} in ${(duration / 1000).toFixed(1)} s`].join("\n")}\n`;
}

/** Returns the reason when all checks were skipped for the same one. */
function onlyReason(results: readonly CheckResult[]): string | undefined {
  const [first] = results;
  const same = results.every(({ outcome, reason }) => outcome === "skipped" && reason === first?.reason);
  return same ? first?.reason : undefined;
}

type Paint = (text: string, with_: keyof typeof COLORS) => string;

function printCheck(results: readonly CheckResult[], paint: Paint): string[] {
  const [first] = results;
  if (first === undefined) return [];
  const { id, title, protects } = first;
  const outcome =
    (["failed", "disturbed", "passed", "skipped"] as const).find((one) =>
      results.some((result) => result.outcome === one),
    ) ?? "skipped";
  const lines = [`  ${paint(MARKS[outcome], outcome)} ${id} ${title}`];
  if (outcome === "failed") lines.push(`      ${paint(`else: ${protects}`, "dim")}`);
  for (const { failure, resource, outcome: own, reason = "" } of results) {
    if (failure === undefined) continue;
    if (own === "disturbed") lines.push(`      ${paint(`disturbed: ${reason}`, "disturbed")}`);
    lines.push(`      ${resource ?? "the server"}: ${failure.request}`);
    lines.push(`        expected ${failure.expected}`, `        got      ${failure.actual}`);
  }
  return [...lines, ...skips(results, paint)];
}

/** Groups skipped resources by reason, so that sixty of them take one line. */
function skips(results: readonly CheckResult[], paint: Paint): string[] {
  const skipped = results.filter(({ outcome }) => outcome === "skipped");
  return Array.from(
    Map.groupBy(skipped, ({ reason = "" }) => reason),
    ([reason, group]) => {
      const names = group.flatMap(({ resource }) => (resource === undefined ? [] : [resource]));
      const who = names.length === 0 ? "" : names.length > 3 ? `${names.length} resources: ` : `${names.join(", ")}: `;
      return paint(`      skipped, ${who}${reason}`, "dim");
    },
  );
}
