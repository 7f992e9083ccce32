import type { KubeObject } from "@virtual-workspaces/apimachinery";
import { parseShardSelector } from "@virtual-workspaces/apimachinery/selectors";
import { expectSame, expectStatus, skip } from "../assertions/expect.ts";
import { at } from "../assertions/json.ts";
import { keyOf, type List, versionsByKey } from "../assertions/objects.ts";
import type { ResourceCheck, ResourceProbe } from "./check.ts";
import { watchAgrees } from "./watches.ts";

const scope = "resource";
const FIELD = "object.metadata.uid";
const HALVES = [
  `shardRange(${FIELD}, '0x0000000000000000', '0x8000000000000000')`,
  `shardRange(${FIELD}, '0x8000000000000000', '0x10000000000000000')`,
];

/** T15: shards, where the server supports their selectors. */
export const shardChecks: readonly ResourceCheck[] = [
  {
    id: "T15.1",
    title: "a list of a shard has the objects whose hash is in its range, and names the selector",
    protects: "replicas of a controller share the work: no replica takes the other objects",
    scope,
    verbs: ["list"],
    run: listsHalves,
  },
  {
    id: "T15.2",
    title: "a watch of a shard has the same objects as a list of it",
    protects: "a replica of a controller sees the objects of another one, or misses its own",
    scope,
    verbs: ["list", "watch"],
    run: async (probe) => {
      await supported(probe);
      await Promise.all(HALVES.map((shardSelector) => watchAgrees(probe, { query: { shardSelector } })));
    },
  },
  {
    id: "T15.3",
    title: "a malformed shard selector is an error",
    protects: "a replica of a controller with a misspelled selector works on all objects",
    scope,
    verbs: ["list"],
    run: async (probe) => {
      await supported(probe);
      // Kubernetes 1.37 answers 500.
      for (const shardSelector of ["all", `shardRange(${FIELD}, '0x0', '0x8')`])
        expectStatus(await probe.answer({ shardSelector }), {
          codes: [400, 500],
          reasons: ["BadRequest", "InternalError"],
        });
    },
  },
];

async function listsHalves(probe: ResourceProbe): Promise<void> {
  await supported(probe);
  await probe.undisturbed(async () => {
    const whole = await probe.list();
    for (const shardSelector of HALVES) {
      const selector = parseShardSelector(shardSelector);
      const isIn = ({ metadata }: KubeObject): boolean => selector.matches(metadata);
      const half = await probe.list({ shardSelector });
      expectSame(half.answer.request, "objects of the shard", {
        expected: versionsByKey(whole.items.filter(isIn)),
        actual: versionsByKey(half.items),
      });
      expectSame(half.answer.request, "metadata.shardInfo.selector", {
        expected: shardSelector,
        actual: shardOf(half),
      });
      expectSame(half.answer.request, "order of the objects", {
        expected: whole.items.filter(isIn).map(keyOf),
        actual: half.items.map(keyOf),
      });
    }
  });
}

/** @throws CheckSkipped if the server ignores the parameter. Kubernetes 1.37 does not name it in lists of custom resources. */
async function supported(probe: ResourceProbe): Promise<void> {
  const half = await probe.list({ shardSelector: HALVES[0] });
  if (shardOf(half) === undefined) skip("the server does not support shard selectors");
}

function shardOf({ document }: List): unknown {
  return at(document, "metadata", "shardInfo", "selector");
}
