import { compareResourceVersions } from "@virtual-workspaces/apimachinery/requests";
import { expectSame, expectStatus, expectStatusObject, fail } from "../assertions/expect.ts";
import { at, listAt, show, textAt } from "../assertions/json.ts";
import { endsInitialEvents, readEvents, versionOf, versionsByKey } from "../assertions/objects.ts";
import type { Answer } from "../http/answer.ts";
import { WatchStream } from "../http/watch-stream.ts";
import { WATCH_LIST } from "../probe/collection-probe.ts";
import type { ResourceCheck, ResourceProbe } from "./check.ts";

const scope = "resource";
const verbs = ["list"] as const;
const BAD_REQUEST = { codes: [400], reasons: ["BadRequest"] };
const FUTURE = { codes: [504, 410], reasons: ["Timeout", "Expired", "Gone"] };
const MALFORMED = ["abc", "-1", "1.5", "0x1"];

/** T3: forms of resourceVersion. */
export const resourceVersionChecks: readonly ResourceCheck[] = [
  {
    id: "T3.1",
    title: "lists with resourceVersion unset, 0, bare and NotOlderThan are at least that recent",
    protects: "clients read a state that they have already overwritten",
    scope,
    verbs,
    run: notOlderThan,
  },
  {
    id: "T3.2",
    title: "resourceVersionMatch=Exact returns exactly that version",
    protects: "two clients that compare the same version see two states",
    scope,
    verbs,
    run: exact,
  },
  {
    id: "T3.3",
    title: "a future version gets 504 with ResourceVersionTooLarge, or 410 when another server issued it",
    protects: "clients of a restarted or different server mistake old state for newer state, or hang at start",
    scope,
    verbs,
    run: tooLarge,
  },
  {
    id: "T3.4",
    title: "initial events are never confirmed for a future version",
    protects: "informers count as synced with a state that they have not seen",
    scope,
    verbs: ["list", "watch"],
    run: tooLargeInitialEvents,
  },
  {
    id: "T3.5",
    title: "a malformed resourceVersion gets 400",
    protects: "a client's mistake is treated as no version, and the client gets the newest state",
    scope,
    verbs,
    run: async (probe) => {
      await probe.versionedList();
      for (const resourceVersion of MALFORMED) expectStatus(await probe.answer({ resourceVersion }), BAD_REQUEST);
    },
  },
  {
    id: "T3.6",
    title: "a malformed resourceVersion gets 400 in watches and single objects too",
    protects: "clients retry forever although they can never succeed: Kubernetes itself answers 500",
    strict: true,
    scope,
    verbs: ["list", "watch", "get"],
    run: async (probe) => {
      const query = { resourceVersion: "abc" };
      expectStatus(await probe.answer({ watch: "true", timeoutSeconds: 1, ...query }), BAD_REQUEST);
      expectStatus(await probe.get(probe.absentPath, { query }), BAD_REQUEST);
    },
  },
  {
    id: "T3.7",
    title: "contradictory list options get 422, which names the field",
    protects: "clients do not notice that they got something else than they requested",
    scope,
    verbs,
    run: async (probe) => {
      const { resourceVersion } = await probe.list();
      await expectInvalid(probe, { resourceVersionMatch: "Exact" });
      await expectInvalid(probe, { resourceVersionMatch: "NotOlderThan" });
      await expectInvalid(probe, { resourceVersionMatch: "Nearly", resourceVersion });
      await expectInvalid(probe, { resourceVersionMatch: "Exact", resourceVersion: "0" });
      await expectInvalid(probe, { sendInitialEvents: "true" }, "sendInitialEvents");
    },
  },
  {
    id: "T3.8",
    title: "contradictory watch options get 422, which names the field",
    protects: "a watch that cannot do what the client requested stays open and silent",
    scope,
    verbs: ["watch"],
    run: async (probe) => {
      const watch = { watch: "true", timeoutSeconds: 1 };
      await expectInvalid(probe, { ...watch, resourceVersionMatch: "NotOlderThan" });
      await expectInvalid(probe, { ...watch, resourceVersionMatch: "Exact", sendInitialEvents: "true" });
      await expectInvalid(probe, { ...watch, sendInitialEvents: "true" });
    },
  },
  {
    id: "T3.9",
    title: "a watch from resourceVersion unset or 0 begins with the existing objects",
    protects: "objects that existed before the watch are never reconciled",
    scope,
    verbs: ["list", "watch"],
    run: async (probe) => {
      await probe.listOf(1);
      for (const resourceVersion of [undefined, "0"])
        await probe.undisturbed(() => beginsWithObjects(probe, resourceVersion));
    },
  },
];

async function notOlderThan(probe: ResourceProbe): Promise<void> {
  const { resourceVersion } = await probe.versionedList();
  const queries = [{}, { resourceVersion }, { resourceVersion, resourceVersionMatch: "NotOlderThan" }];
  for (const query of queries) {
    const { answer, resourceVersion: version } = await probe.list(query);
    if (compareResourceVersions(version, resourceVersion) < 0)
      fail(answer.request, `a list at ${resourceVersion} or later`, show(version));
  }
  for (const query of [{ resourceVersion: "0" }, { resourceVersion: "0", resourceVersionMatch: "NotOlderThan" }])
    await probe.list(query);
}

async function exact(probe: ResourceProbe): Promise<void> {
  const now = await probe.versionedList();
  const { resourceVersion } = now;
  const then = await probe.list({ resourceVersion, resourceVersionMatch: "Exact" });
  expectSame(then.answer.request, "metadata.resourceVersion", {
    expected: resourceVersion,
    actual: then.resourceVersion,
  });
  expectSame(then.answer.request, "objects", { expected: versionsByKey(now.items), actual: versionsByKey(then.items) });
}

async function tooLarge(probe: ResourceProbe): Promise<void> {
  const { resourceVersion: now, items } = await probe.versionedList();
  const resourceVersion = future(now);
  const asked = [probe.answer({ resourceVersion }), probe.answer({ resourceVersion, resourceVersionMatch: "Exact" })];
  const [first] = items;
  if (first !== undefined && probe.resource.verbs.includes("get")) {
    const { namespace = "", name = "" } = first.metadata;
    asked.push(probe.get(probe.pathOf({ namespace, name }), { query: { resourceVersion } }));
  }
  for (const answer of await Promise.all(asked)) expectTooLarge(answer);
}

function expectTooLarge(answer: Answer): void {
  const status = expectStatus(answer, FUTURE);
  if (answer.status !== 504) return;
  const causes = listAt(status, "details", "causes").map((cause) => textAt(cause, "reason"));
  if (!causes.includes("ResourceVersionTooLarge"))
    fail(answer.request, "the cause ResourceVersionTooLarge", show(at(status, "details")));
}

async function tooLargeInitialEvents(probe: ResourceProbe): Promise<void> {
  const resourceVersion = future((await probe.list()).resourceVersion);
  const opened = await probe.client.watch(probe.path, { query: { ...WATCH_LIST, resourceVersion, timeoutSeconds: 4 } });
  if (!(opened instanceof WatchStream)) {
    expectStatus(opened, { codes: [...FUTURE.codes, 422], reasons: [...FUTURE.reasons, "Invalid"] });
    return;
  }
  using stream = opened;
  const { seen } = await readEvents(stream, {
    within: 5_000,
    done: (event) => event.type === "ERROR" || endsInitialEvents(event),
  });
  const last = seen.at(-1);
  if (last?.type === "ERROR") expectStatusObject(stream.request, last.object, FUTURE);
  if (last !== undefined && endsInitialEvents(last))
    fail(stream.request, "no bookmark below the requested version", versionOf(last.object));
}

/** Returns a version so high that no server reaches it during the check. */
function future(now: string): string {
  return (BigInt(/^\d+$/.test(now) ? now : "1") + 1_000_000_000_000_000n).toString();
}

async function expectInvalid(
  probe: ResourceProbe,
  query: Readonly<Record<string, string | number>>,
  field = "resourceVersionMatch",
): Promise<void> {
  const answer = await probe.answer(query);
  const status = expectStatus(answer, { codes: [422], reasons: ["Invalid"] });
  const fields = listAt(status, "details", "causes").map((cause) => textAt(cause, "field"));
  if (!fields.includes(field)) fail(answer.request, `a cause with the field ${field}`, show(at(status, "details")));
}

async function beginsWithObjects(probe: ResourceProbe, resourceVersion: string | undefined): Promise<void> {
  const list = await probe.list();
  using stream = await probe.watchAll({ resourceVersion, timeoutSeconds: 60 });
  const { seen } = await readEvents(stream, {
    within: probe.deadlines.prompt,
    done: (_, { length }) => length === list.items.length,
  });
  const added = seen.filter(({ type }) => type === "ADDED").map(({ object }) => object);
  expectSame(stream.request, "objects ADDED", { expected: versionsByKey(list.items), actual: versionsByKey(added) });
}
