import type { KubeObject } from "@virtual-workspaces/apimachinery";
import { excerpt, fail, skip } from "../assertions/expect.ts";
import { at, isObject, type JsonObject, listAt, textAt } from "../assertions/json.ts";
import { eventObject, plainKeyOf, readEvents } from "../assertions/objects.ts";
import type { Answer, RequestLine } from "../http/answer.ts";
import type { CallOptions, Query } from "../http/client.ts";
import { WatchStream } from "../http/watch-stream.ts";
import { askReview, type KnownUser } from "../probe/users.ts";
import { Writes } from "../writing/writes.ts";
import type { ResourceCheck, ResourceProbe } from "./check.ts";
import { PARTIAL, PARTIAL_LIST, TABLE } from "./representations.ts";

const scope = "resource";
const protects = "a user reads objects of namespaces that the user may not access";
/** Codes that deny a list in a namespace. Some servers hide what a user may not access. */
const DENIALS: readonly number[] = [403, 404];
/** Maximum number of namespaces that are tried for each user. */
const MOST_NAMESPACES = 20;
/** Time for events of a watch, ms. */
const LISTEN = 1_000;

/** T14: permissions in one namespace are not valid in others. The run's own user must see the objects of all namespaces. */
export const namespaceChecks: readonly ResourceCheck[] = [
  {
    id: "T14.1",
    title: "lists of all namespaces show no object of a namespace in which the user may not list",
    protects,
    scope,
    verbs: ["list"],
    run: (probe) => ofEach(probe, lists),
  },
  {
    id: "T14.2",
    title: "watches of all namespaces show no object of a namespace in which the user may not list",
    protects,
    scope,
    verbs: ["list", "watch"],
    run: (probe) => ofEach(probe, watches),
  },
  {
    id: "T14.3",
    title: "a get or a list by the name of an object in another namespace does not show the object",
    protects,
    scope,
    verbs: ["list", "get"],
    run: (probe) => ofEach(probe, otherNamespaces),
  },
  {
    id: "T14.4",
    title: "deletecollection of all namespaces deletes nothing in a namespace in which the user may not list",
    protects: "a user deletes objects of namespaces that the user may not access",
    scope,
    verbs: ["create", "list", "get", "delete", "deletecollection"],
    writes: true,
    run: deleteCollections,
  },
];

/** User who may not list in some namespaces. */
interface NarrowUser extends KnownUser {
  /** Name for messages, which contain no credentials. */
  readonly who: string;
  readonly denied: ReadonlySet<string>;
  readonly allowed: readonly string[];
  /** An object in a denied namespace. */
  readonly hidden: KubeObject;
}

type UserCheck = (probe: ResourceProbe, user: NarrowUser) => Promise<void>;

async function ofEach(probe: ResourceProbe, check: UserCheck): Promise<void> {
  for (const user of await narrowUsers(probe)) await check(probe, user);
}

/** @throws CheckSkipped when the run has no such user */
async function narrowUsers(probe: ResourceProbe): Promise<readonly NarrowUser[]> {
  const { others } = probe.users;
  if (!probe.resource.namespaced) skip("the resource is cluster-scoped");
  if (others.length === 0)
    skip("needs the token of a user who may list in some namespaces only: --other-token-file (others)");
  const { items } = await probe.list();
  const byNamespace = Map.groupBy(items, ({ metadata }) => metadata.namespace ?? "");
  const names = [...byNamespace.keys()].slice(0, MOST_NAMESPACES);
  const users = await Promise.all(
    others.map(async (user, index): Promise<readonly NarrowUser[]> => {
      const codes = await Promise.all(names.map((name) => codeOfList(probe, user, name)));
      const denied = names.filter((_, at) => DENIALS.includes(codes[at] ?? 0));
      const allowed = names.filter((_, at) => codes[at] === 200);
      const [hidden] = byNamespace.get(denied[0] ?? "") ?? [];
      const who = `the other user ${index + 1}`;
      return hidden === undefined ? [] : [{ ...user, who, denied: new Set(denied), allowed, hidden }];
    }),
  );
  if (users.flat().length === 0)
    skip(
      "needs an object in a namespace in which another user may not list: use the token of such a user (--other-token-file)",
    );
  return users.flat();
}

async function codeOfList(probe: ResourceProbe, { alone }: KnownUser, namespace: string): Promise<number> {
  return (await alone(probe.namespacePath(namespace), { query: { limit: 1 } })).status;
}

/** Queries of lists that name the hidden object in all ways. */
function queriesFor({ metadata: { name, namespace } }: KubeObject): readonly Query[] {
  return [
    {},
    { limit: 500 },
    { resourceVersion: "0" },
    { labelSelector: "!conformance.virtual-workspaces.dev/absent" },
    { fieldSelector: `metadata.name=${name}` },
    { fieldSelector: `metadata.namespace=${namespace}` },
  ];
}

const lists: UserCheck = async (probe, user) => {
  const requests: CallOptions[] = queriesFor(user.hidden).map((query) => ({ query }));
  for (const accept of [TABLE, PARTIAL_LIST]) requests.push({ headers: { accept } });
  requests.push({ query: { includeObject: "Object" }, headers: { accept: TABLE } });
  await Promise.all(
    requests.map(async (options) => expectNone(await user.alone(probe.path, options), user, user.denied)),
  );
};

const watches: UserCheck = async (probe, user) => {
  const { name } = user.hidden.metadata;
  const watch = { watch: "true", timeoutSeconds: 1 };
  const requests: CallOptions[] = [
    { query: watch },
    { query: { ...watch, resourceVersion: "0" } },
    { query: { ...watch, fieldSelector: `metadata.name=${name}` } },
    {
      query: {
        ...watch,
        ...{ sendInitialEvents: "true", resourceVersionMatch: "NotOlderThan", allowWatchBookmarks: "true" },
      },
    },
    { query: watch, headers: { accept: TABLE } },
    { query: watch, headers: { accept: PARTIAL } },
  ];
  await Promise.all(
    requests.map(async (options) => {
      const opened = await user.watch(probe.path, options);
      if (!(opened instanceof WatchStream)) return expectNone(opened, user, user.denied);
      using stream = opened;
      const { seen } = await readEvents(stream, { within: LISTEN + probe.deadlines.prompt });
      expectHidden(stream.request, seen.map(eventObject), { user, namespaces: user.denied });
    }),
  );
};

const otherNamespaces: UserCheck = async (probe, user) => {
  const { name = "", namespace = "" } = user.hidden.metadata;
  for (const allowed of user.allowed) {
    const path = probe.namespacePath(allowed);
    expectNone(await user.alone(probe.pathOf({ namespace: allowed, name }), {}), user, user.denied);
    for (const query of queriesFor(user.hidden)) expectNone(await user.alone(path, { query }), user, user.denied);
  }
  // Roles may allow a get without a list. Only the server's own review can tell.
  const { group, name: resource } = probe.resource;
  const spec = { resourceAttributes: { verb: "get", group, resource, namespace, name } };
  const review = await askReview(user.alone, "SelfSubjectAccessReview", { spec });
  if (review.status >= 300 || at(bodyOf(review), "status", "allowed") === true) return;
  for (const accept of ["application/json", TABLE, PARTIAL])
    expectNone(await user.alone(probe.pathOf({ namespace, name }), { headers: { accept } }), user, user.denied);
};

async function deleteCollections(probe: ResourceProbe): Promise<void> {
  await narrowUsers(probe);
  await using writes = new Writes(probe);
  const { writer } = writes;
  const { namespace } = writer;
  let tried = 0;
  for (const user of probe.users.others) {
    if (!DENIALS.includes(await codeOfList(probe, user, namespace))) continue;
    tried += 1;
    const object = await writes.make();
    // Deletes only objects of this run, even if the server ignores one of the two selectors.
    const query = { labelSelector: writer.selector, fieldSelector: `metadata.name=${at(object, "metadata", "name")}` };
    for (const path of [probe.path, writer.path]) {
      const answer = await user.alone(path, { method: "DELETE", query: { ...query, gracePeriodSeconds: 0 } });
      const { status } = await probe.get(writes.pathOf(object));
      if (status !== 200)
        fail(
          answer.request,
          `an object in the namespace ${JSON.stringify(namespace)} to stay, in which the user may not list`,
          `it is deleted; ${excerpt(answer)}`,
        );
    }
  }
  if (tried === 0)
    skip(
      `all other users may list in the namespace ${JSON.stringify(namespace)}: use --namespace for one in which they may not`,
    );
}

/** Expects that a list, a table or an object shows nothing of these namespaces. */
function expectNone(answer: Answer, user: NarrowUser, namespaces: ReadonlySet<string>): void {
  if (answer.status !== 200) return;
  const document = bodyOf(answer);
  const rows = listAt(document, "rows").map((row) => at(row, "object"));
  expectHidden(answer.request, [document, ...listAt(document, "items"), ...rows], { user, namespaces });
}

function expectHidden(
  request: RequestLine,
  objects: readonly unknown[],
  { user, namespaces }: { readonly user: NarrowUser; readonly namespaces: ReadonlySet<string> },
): void {
  const shown = objects.filter((object) => namespaces.has(textAt(object, "metadata", "namespace")));
  const [first] = shown;
  if (first === undefined) return;
  const namespace = textAt(first, "metadata", "namespace");
  fail(
    request,
    `no object of the namespace ${JSON.stringify(namespace)}, in which ${user.who} may not list`,
    `${plainKeyOf(first)}${shown.length === 1 ? "" : ` and ${shown.length - 1} more`}: authorize such requests with byNamespace()`,
  );
}

function bodyOf({ body }: Answer): JsonObject {
  try {
    const document = JSON.parse(body.toString("utf8")) as unknown;
    return isObject(document) ? document : {};
  } catch {
    return {};
  }
}
