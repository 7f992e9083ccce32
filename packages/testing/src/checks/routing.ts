import { expectCode, expectOk, expectSame, expectStatus, fail, skip } from "../assertions/expect.ts";
import { at, isObject, textAt } from "../assertions/json.ts";
import { readEvents, readList } from "../assertions/objects.ts";
import type { Answer } from "../http/answer.ts";
import { ABSENT } from "../probe/collection-probe.ts";
import type { ResourceCheck, ResourceProbe } from "./check.ts";

const scope = "resource";
/** T7, continued: discovery advertises exactly the served verbs. */
export const routingChecks: readonly ResourceCheck[] = [
  {
    id: "T7.5",
    title: "every advertised read verb works, in all namespaces and in one",
    protects: "clients that cache discovery retry forever",
    scope,
    verbs: [],
    evenUnlistable: true,
    run: verbsAnswer,
  },
  {
    id: "T7.6",
    title: "verbs that are not advertised get 405",
    protects: "operations that discovery hides are still open",
    scope,
    verbs: [],
    run: async (probe) => {
      for (const answer of await unadvertised(probe))
        expectCode(answer, answer.request.url.includes(ABSENT) ? [405, 404] : [405]);
    },
  },
  {
    id: "E3",
    title: "the answer to an unserved verb is a Status with reason MethodNotAllowed",
    protects: "clients show an error without a reason",
    scope,
    verbs: [],
    run: async (probe) => {
      const refused = (await unadvertised(probe)).filter(({ status }) => status === 405);
      if (refused.length === 0) skip("no verb of this resource gets 405");
      for (const answer of refused) expectStatus(answer, { codes: [405], reasons: ["MethodNotAllowed"] });
    },
  },
  {
    id: "T7.7",
    title: "lists, objects and events have the kind that discovery names",
    protects: "decoders reject unexpected kinds",
    scope,
    verbs: ["list"],
    run: kindsAgree,
  },
];

async function verbsAnswer(probe: ResourceProbe): Promise<void> {
  const { verbs, namespaced } = probe.resource;
  if (verbs.includes("list")) {
    const { items } = await probe.list();
    const { namespace = "default", name } = items[0]?.metadata ?? {};
    if (namespaced) readList(await probe.get(probe.namespacePath(namespace)));
    if (verbs.includes("get") && name !== undefined)
      expectOk(await probe.get(probe.pathOf({ namespace: namespaced ? namespace : "", name })));
  }
  if (verbs.includes("get")) {
    const answer = await probe.get(probe.absentPath);
    expectCode(answer, [404, 403], " for a missing object");
  }
  if (!verbs.includes("watch")) return;
  const query = { watch: "true", timeoutSeconds: 1 };
  (await probe.watch(probe.path, { query }))[Symbol.dispose]();
  if (namespaced) (await probe.watch(probe.namespacePath("default"), { query }))[Symbol.dispose]();
}

/** Sends each verb that discovery does not list. The requests are dry runs on an unused name, so nothing changes. */
async function unadvertised(probe: ResourceProbe): Promise<readonly Answer[]> {
  const { verbs, namespaced } = probe.resource;
  const collection = namespaced ? probe.namespacePath("default") : probe.path;
  const object = probe.absentPath;
  const query = { dryRun: "All" };
  const asks: Readonly<Record<string, () => Promise<Answer>>> = {
    get: () => probe.get(object),
    list: () => probe.get(collection),
    create: () => probe.get(collection, { method: "POST", query }),
    update: () => probe.get(object, { method: "PUT", query }),
    patch: () => probe.get(object, { method: "PATCH", query }),
    delete: () => probe.get(object, { method: "DELETE", query }),
    "a method without a verb": () => probe.get(collection, { method: "PROPFIND", query }),
  };
  const missing = Object.entries(asks).filter(([verb]) => !verbs.includes(verb));
  const answers = await Promise.all(missing.map(([, ask]) => ask()));
  if (!verbs.includes("watch")) answers.push(await watchHead(probe));
  return answers.filter(({ status }) => status !== 403);
}

/** Requests a watch that must not exist, and reads only its headers. */
async function watchHead(probe: ResourceProbe): Promise<Answer> {
  const opened = await probe.client.watch(probe.path, { query: { watch: "true", timeoutSeconds: 1 } });
  if ("status" in opened) return opened;
  using stream = opened;
  const { request, headers } = stream;
  return { request, headers, status: 200, body: Buffer.alloc(0) };
}

async function kindsAgree(probe: ResourceProbe): Promise<void> {
  const { answer, document, items } = await probe.list();
  const { kind, verbs } = probe.resource;
  expectSame(answer.request, "apiVersion", { expected: probe.apiVersion, actual: document["apiVersion"] });
  if (!/.List$/.test(textAt(document, "kind")))
    fail(answer.request, "a kind that ends in List", String(document["kind"]));
  const expected = [probe.apiVersion, kind];
  for (const item of items) {
    // Items in lists of built-in kinds do not repeat their type.
    if (item.kind !== undefined)
      expectSame(answer.request, "type of an item", { expected, actual: [item.apiVersion, item.kind] });
  }
  const [first] = items;
  if (first === undefined) return;
  const { namespace = "", name = "" } = first.metadata;
  if (verbs.includes("get")) {
    const one = await probe.get(probe.pathOf({ namespace, name }));
    const object = expectOk(one);
    expectSame(one.request, "type of the object", { expected, actual: [object["apiVersion"], object["kind"]] });
  }
  if (!verbs.includes("watch")) return;
  using stream = await probe.watchAll({ timeoutSeconds: 60 });
  const { seen } = await readEvents(stream, { within: probe.deadlines.prompt, done: ({ type }) => type === "ADDED" });
  const event = seen.find(({ type }) => type === "ADDED")?.object;
  if (isObject(event))
    expectSame(stream.request, "type of the event's object", {
      expected,
      actual: [at(event, "apiVersion"), at(event, "kind")],
    });
}
