import type { ServerCore } from "../../core.ts";
import type { MetricFamily } from "./family.ts";

/** What the views of a server count of their own, and those of the servers within it: families of one name as one. */
export function viewFamilies(core: ServerCore): readonly MetricFamily[] {
  const byName = new Map<string, MetricFamily>();
  for (const family of all(core)) {
    const known = byName.get(family.name);
    if (known === undefined) byName.set(family.name, family);
    // Views that make something else of a name make no series of it.
    else if (isAlike(known, family)) byName.set(family.name, joined(known, family));
  }
  return [...byName.values()];
}

function all(core: ServerCore): readonly MetricFamily[] {
  const own = core.matcher.views.flatMap(({ workspace }) => {
    try {
      return workspace.metrics?.() ?? [];
    } catch (error) {
      const about = { virtualWorkspace: workspace.name, error: String(error) };
      core.log({ level: "error", message: "metrics of a virtual workspace failed", ...about });
      return [];
    }
  });
  return [...own, ...core.parts.flatMap((part) => all(part.core))];
}

function isAlike(one: MetricFamily, other: MetricFamily): boolean {
  return one.type === other.type && one.labelNames.join() === other.labelNames.join();
}

function joined(one: MetricFamily, other: MetricFamily): MetricFamily {
  return { ...one, samples: [...one.samples, ...other.samples] } as MetricFamily;
}
