// Misuse of the framework must not compile. This file is compiled but never run. If a misuse compiles, the compiler reports
// its directive below as unused.
import { createServer as createHttpsServer, type ServerOptions as HttpsServerOptions } from "node:https";
import type { CheckedSchema, UnknownKeyword } from "@virtual-workspaces/apimachinery";
import {
  allow,
  type Collection,
  createServer,
  defineResource,
  defineVirtualWorkspace,
  deny,
  type ObjectOf,
  type SpecOf,
  type StoredObject,
  view,
} from "@virtual-workspaces/framework";
import { generatedTls } from "@virtual-workspaces/framework/tls";
import { Upstream } from "@virtual-workspaces/transport";

/** Generated certificates fit Node's HTTPS server as they are, and upstreams take authorities as Node does. */
export async function certificates(): Promise<void> {
  const { tls, ca } = await generatedTls({ dir: "tls" });
  createHttpsServer(tls);
  createServer({ virtualWorkspaces: [], authentication: [], tls });
  const { ca: nodes } = {} as Pick<HttpsServerOptions, "ca">;
  for (const one of [ca, Buffer.from(ca), [ca, Buffer.from(ca)], nodes])
    new Upstream({ url: "https://127.0.0.1", tls: one === undefined ? {} : { ca: one } });
  // @ts-expect-error a number is no certificate
  new Upstream({ url: "https://127.0.0.1", tls: { ca: 7 } });
}

type Equals<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
type Expect<T extends true> = T;

const Quote = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Quote",
  scope: "Cluster",
  spec: {
    type: "object",
    required: ["text"],
    properties: { text: { type: "string" }, author: { type: "string" } },
  },
  status: { type: "object", properties: { seen: { type: "integer" } } },
});
const quotes = Quote.collection();
type QuoteSpec = Parameters<ReturnType<typeof quotes.in>["set"]>[1];
type StoredQuote = ObjectOf<typeof Quote>;
export type ObjectByKind = Expect<Equals<StoredQuote["spec"], { text: string; author?: string }>>;
export type ObjectByContent = Expect<Equals<ObjectOf<{ spec: { n: 1 } }>["spec"], { n: 1 }>>;
export type SpecByKind = Expect<Equals<SpecOf<typeof Quote>, { text: string; author?: string }>>;
export type NameIsThere = Expect<Equals<StoredObject<typeof Quote>["metadata"]["name"], string>>;
export type SpecIsTheSchema = Expect<Equals<QuoteSpec, { text: string; author?: string }>>;

defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Counted",
  scope: "Cluster",
  spec: { type: "object", required: ["texts"], properties: { texts: { type: "array", items: { type: "string" } } } },
  columns: {
    Name: ".metadata.name",
    Texts: { type: "integer", value: ({ spec }) => spec.texts.length },
    // @ts-expect-error a field that the schema does not have
    Txts: { type: "integer", value: ({ spec }) => spec.txts.length },
  },
});
defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Counted",
  scope: "Cluster",
  spec: { type: "object", required: ["texts"], properties: { texts: { type: "array", items: { type: "string" } } } },
  // @ts-expect-error a function's column without a type
  columns: { Untyped: { value: ({ spec }: { spec: { texts: string[] } }) => spec.texts.length } },
});
defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Counted",
  scope: "Cluster",
  spec: {
    type: "object",
    properties: { text: { type: "string" }, list: { type: "array", items: { type: "object" } } },
  },
  columns: { Text: ".spec.text", First: ".spec.list[0].name", Label: ".metadata.labels.app" },
  // @ts-expect-error a path that the schema does not have
  selectableFields: [".spec.txet"],
});
defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Counted",
  scope: "Cluster",
  spec: { type: "object", properties: { text: { type: "string" } } },
  // @ts-expect-error a path that the schema does not have
  columns: { Txet: ".spec.txet" },
});
defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Counted",
  scope: "Cluster",
  spec: { type: "object", properties: { text: { type: "string" } } },
  // @ts-expect-error a path without a dot
  columns: { Dotless: { jsonPath: "spec.text" } },
});
defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Misspelt",
  scope: "Cluster",
  spec: {
    type: "object",
    // @ts-expect-error an unknown keyword, whose name is in the message
    requird: ["text"],
    // @ts-expect-error an unknown keyword of a field
    properties: { text: { type: "string", maxLenght: 3 } },
  },
});
export type UnknownKeywordIsNamed = Expect<
  Equals<CheckedSchema<{ type: "object"; requird: true }>["requird"], UnknownKeyword<"requird">>
>;
Quote.serve(quotes, {
  identity: "3f2a",
  admit: ({ definition, deletion, object }) => {
    // @ts-expect-error what was said of a delete is there for deletes only
    deletion.propagationPolicy;
    if (definition.kind === "Quote" && object !== undefined) object.spec.text satisfies string;
  },
});

quotes.in("root").set("a", { text: "x" }, { labels: { l: "v" } });
quotes.in("root").setStatus("a", { seen: 1 });
// @ts-expect-error a field that is missing
quotes.in("root").set("a", {});
// @ts-expect-error a field that the schema does not have
quotes.in("root").set("a", { text: "x", txt: "y" });
// @ts-expect-error a field of another type
quotes.in("root").set("a", { text: 1 });
// @ts-expect-error a status of another type
quotes.in("root").setStatus("a", { seen: "often" });

const Config = defineResource({
  group: "",
  version: "v1",
  kind: "Config",
  scope: "Namespaced",
  schema: { type: "object", properties: { data: { type: "object", additionalProperties: { type: "string" } } } },
});
Config.collection()
  .in("root", "default")
  .set("c", { data: { a: "b" } });
// @ts-expect-error a kind without status has none to set
Config.collection().in("root", "default").setStatus("c", {});

defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Bad",
  scope: "Cluster",
  // @ts-expect-error a schema keyword that is misspelt
  spec: { type: "object", propertys: {} },
});

const resources = [Quote.serve(quotes, { verbs: ["get", "list", "watch"] })];
// @ts-expect-error a kind on objects of another one
Config.serve(quotes);
// @ts-expect-error a verb that does not exist
Quote.serve(quotes, { verbs: ["read"] });

defineVirtualWorkspace({
  name: "quotes",
  path: "/of/:owner/clusters/:cluster",
  authorize: ({ user, params, verb, name }) =>
    user.in("system:authenticated") && params.owner === user.name ? allow() : deny(`${verb} ${name} ${params.cluster}`),
  resources,
});
// @ts-expect-error a view that decides nothing about access
defineVirtualWorkspace({ name: "quotes", path: "/clusters/:cluster", resources });
defineVirtualWorkspace({
  name: "quotes",
  path: "/clusters/:cluster",
  // @ts-expect-error a parameter that the path does not have
  authorize: ({ params }) => (params.clutser === "root" ? allow() : deny("no")),
  resources,
});
defineVirtualWorkspace({
  name: "quotes",
  path: "/clusters/:cluster",
  // @ts-expect-error a decision that is none
  authorize: () => true,
  resources,
});
defineVirtualWorkspace({
  name: "x",
  prefix: "/clusters",
  path: "/:cluster/at/:place",
  // @ts-expect-error a parameter that the path does not have
  locate: (cluster, { params }) => (params.place === cluster ? params.clutser : cluster),
  authorize: () => allow(),
  resources: [],
});
// @ts-expect-error a view without a name
defineVirtualWorkspace({ path: "/clusters/:cluster", authorize: () => allow(), resources });

const Shout = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Shout",
  scope: "Cluster",
  spec: { type: "object", required: ["loud"], properties: { loud: { type: "string" } } },
});
const shouts = view({ from: quotes, to: Shout, map: ({ spec }) => ({ spec: { loud: spec.text.toUpperCase() } }) });
Shout.serve(shouts);
// @ts-expect-error another kind needs a map
view({ from: quotes, to: Shout });
// @ts-expect-error a map to something else than the kind
view({ from: quotes, to: Shout, map: ({ spec }) => ({ spec: { quiet: spec.text } }) });
view({
  from: quotes,
  varyBy: ({ identity }) => ({ name: identity.name }),
  inputs: { shouts },
  // @ts-expect-error something that `by` does not say
  select: ({ metadata }, { variant, inputs }) => inputs.shouts.get(metadata.name ?? "")?.spec.loud === variant.nmae,
});

export type CollectionOfQuotes = Expect<
  typeof quotes extends Collection<{ spec: { text: string; author?: string }; status?: { seen?: number } }>
    ? true
    : false
>;
