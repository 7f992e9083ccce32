import { excerpt, expectStatus, expectStatusObject, fail, skip } from "../assertions/expect.ts";
import { isObject, show } from "../assertions/json.ts";
import { eventCounts, readEvents, readList } from "../assertions/objects.ts";
import { SELECTS_NOTHING } from "../probe/collection-probe.ts";
import type { ResourceCheck, ResourceProbe } from "./check.ts";
import { PARTIAL, TABLE } from "./representations.ts";

const scope = "resource";
const GONE = { codes: [410], reasons: ["Expired", "Gone"] };
/** Version that is too old for every server that has seen a few writes. */
const ANCIENT = "1";
/** Highest version at which a server may still know its whole history. */
const YOUNG = 1_000n;

/** T2: answers to clients that resume from a version that is too old. */
export const expiredChecks: readonly ResourceCheck[] = [
  {
    id: "T2.1",
    title: "a watch from a version that is too old gets 200, one ERROR event with a 410 Status, and the end",
    protects: "objects deleted meanwhile stay in caches forever, because a watch that continues does not relist",
    scope,
    verbs: ["list", "watch"],
    run: async (probe) => {
      await expectExpiredWatch(probe, {});
      await expectExpiredWatch(probe, { query: { labelSelector: SELECTS_NOTHING } });
    },
  },
  {
    id: "T2.2",
    title: "the ERROR event of a watch is a Status in every representation",
    protects: "kubectl get -w and metadata informers cannot read why their watch ended",
    scope,
    verbs: ["list", "watch"],
    run: async (probe) => {
      for (const accept of [TABLE, PARTIAL]) await expectExpiredWatch(probe, { headers: { accept } });
    },
  },
  {
    id: "T2.3",
    title: "a list of a version that is too old gets HTTP 410, or is really of that version",
    protects: "clients mistake the current list for the one that they requested",
    scope,
    verbs: ["list"],
    run: async (probe) => {
      await probe.versionedList();
      expectPast(await probe.answer({ resourceVersion: ANCIENT, resourceVersionMatch: "Exact" }));
    },
  },
  {
    id: "T2.4",
    title: "a continue token of a version that is too old gets HTTP 410, or a page that is really of that version",
    protects: "paged lists miss objects, or return them twice",
    scope,
    verbs: ["list"],
    run: async (probe) => {
      await probe.listOf(2);
      const { continue: token } = await probe.list({ limit: 1 });
      if (token === "") skip("the server does not page");
      expectPast(await probe.answer({ limit: 1, continue: aged(token) }));
    },
  },
];

async function expectExpiredWatch(
  probe: ResourceProbe,
  options: { readonly query?: Readonly<Record<string, string>>; readonly headers?: Readonly<Record<string, string>> },
): Promise<void> {
  using stream = await probe.watchAll(
    { resourceVersion: ANCIENT, timeoutSeconds: 60, ...options.query },
    options.headers,
  );
  const { request } = stream;
  const { seen } = await readEvents(stream, { within: probe.deadlines.prompt, done: () => true });
  const [event] = seen;
  if (event?.type !== "ERROR") {
    const { resourceVersion } = await probe.list();
    if (/^\d+$/.test(resourceVersion) && BigInt(resourceVersion) <= YOUNG)
      skip(`at version ${resourceVersion} the server may know its whole history`);
    fail(request, "an ERROR event with a 410 Status", event === undefined ? "no event" : show(event));
  }
  expectStatusObject(request, event.object, GONE);
  const rest = await readEvents(stream, { within: probe.deadlines.prompt, done: () => true });
  if (rest.end !== "ended" && rest.end !== "cut")
    fail(request, "the end of the stream after ERROR", `${eventCounts(rest.seen)}, ${rest.end}`);
}

/** Expects either an error or a list that is really of the past version. */
function expectPast(answer: Parameters<typeof readList>[0]): void {
  if (answer.status !== 200) {
    expectStatus(answer, GONE);
    return;
  }
  const { resourceVersion } = readList(answer);
  if (resourceVersion !== ANCIENT) fail(answer.request, `410, or a list at version ${ANCIENT}`, excerpt(answer));
}

/** Turns a continue token of Kubernetes' format into one for a version that has long expired. */
function aged(token: string): string {
  const content = decoded(token);
  if (content === undefined || !("rv" in content))
    skip("continue tokens of this server cannot be aged: they are not in Kubernetes' format");
  const rv = typeof content.rv === "number" ? Number(ANCIENT) : ANCIENT;
  return Buffer.from(JSON.stringify({ ...content, rv })).toString("base64url");
}

function decoded(token: string): object | undefined {
  try {
    const content: unknown = JSON.parse(Buffer.from(token, "base64url").toString("utf8"));
    return isObject(content) ? content : undefined;
  } catch {
    return undefined;
  }
}
