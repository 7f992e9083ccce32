import { excerpt, expectStatus, expectStatusObject, fail, skip } from "../assertions/expect.ts";
import { isObject, show } from "../assertions/json.ts";
import { eventCounts, readEvents, readList } from "../assertions/objects.ts";
import { SELECTS_NOTHING } from "../probe/collection-probe.ts";
import type { ResourceCheck, ResourceProbe } from "./check.ts";
import { PARTIAL, TABLE } from "./representations.ts";

const scope = "resource";
const GONE = { codes: [410], reasons: ["Expired", "Gone"] };
/** No server that has seen a few writes knows what happened since then. */
const ANCIENT = "1";
/** Up to here a server may be young enough to know its whole history. */
const YOUNG = 1_000n;

/** T2: what clients are told when they come back too late. */
export const expiredChecks: readonly ResourceCheck[] = [
  {
    id: "T2.1",
    title: "a watch from a version too old is 200, one ERROR event with a 410 Status, and the end",
    protects: "objects deleted meanwhile stay in caches for ever, since a watch that goes on does not relist",
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
    title: "a list of a version too old is HTTP 410, or truly of that version",
    protects: "clients take today's list for the one they asked for",
    scope,
    verbs: ["list"],
    run: async (probe) => {
      await probe.versionedList();
      expectPast(await probe.answer({ resourceVersion: ANCIENT, resourceVersionMatch: "Exact" }));
    },
  },
  {
    id: "T2.4",
    title: "a continue token of a version too old is HTTP 410, or truly of that version",
    protects: "paged lists miss objects, or have them twice",
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

/** Either the past cannot be had, or it is the past that came. */
function expectPast(answer: Parameters<typeof readList>[0]): void {
  if (answer.status !== 200) {
    expectStatus(answer, GONE);
    return;
  }
  const { resourceVersion } = readList(answer);
  if (resourceVersion !== ANCIENT) fail(answer.request, `410, or a list at version ${ANCIENT}`, excerpt(answer));
}

/** The token as an old server's client would hold it: of Kubernetes' form, for a version long gone. */
function aged(token: string): string {
  const content = decoded(token);
  if (content === undefined || !("rv" in content))
    skip("continue tokens of this server cannot be aged: they are not of Kubernetes' form");
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
