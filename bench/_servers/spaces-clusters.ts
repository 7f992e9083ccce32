// Many API servers in one process, as bare as they can be: each keeps one kind below a path of its own, gives it in pages and holds watches of
// it. One of them is where the Spaces of the others, and the Secrets that lead to them, are kept.
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import { serveCommands } from "../_harness/commands.ts";
import { listen } from "../_harness/listen.ts";
import { sharedNow } from "./tick.ts";

/** What a collection is like, as JSON. */
interface Item {
  readonly metadata: { readonly name: string; readonly [name: string]: unknown };
}

/** One kind in one place. */
class Kept {
  readonly watchers = new Set<ServerResponse>();
  /** How many watches there have been. */
  watches = 0;
  readonly #head: string;
  readonly #type: string;
  readonly #items: string[] = [];
  readonly #pages = new Map<string, Buffer>();
  /** Lines of watches, by version. */
  readonly #lines: string[] = [];

  constructor(apiVersion: string, kind: string) {
    this.#type = `"apiVersion":"${apiVersion}","kind":"${kind}",`;
    this.#head = `"apiVersion":"${apiVersion}","kind":"${kind}List"`;
  }

  /** Adds an object as if it had always been there; its version is the number of changes until then. */
  fill(item: Item): void {
    this.#items.push(this.#text(item));
  }

  /** Has an object come, or change. */
  put(type: "ADDED" | "MODIFIED", item: Item): void {
    const line = `{"type":"${type}","object":${this.#text(item, 1)}}\n`;
    this.#lines.push(line);
    if (type === "ADDED") this.#items.push(this.#text(item));
    this.#pages.clear();
    // In turn, so that nobody is always the first.
    const watchers = [...this.watchers];
    for (const watcher of this.#lines.length % 2 === 0 ? watchers : watchers.reverse()) watcher.write(line);
  }

  list(query: URLSearchParams, res: ServerResponse): void {
    const limit = Number(query.get("limit") ?? this.#items.length) || 1;
    const from = Number(query.get("continue") ?? 0);
    const key = `${limit}/${from}`;
    const page = this.#pages.get(key) ?? this.#page(limit, from);
    this.#pages.set(key, page);
    res.writeHead(200, { "Content-Type": "application/json", "Content-Length": page.length }).end(page);
  }

  watch(query: URLSearchParams, res: ServerResponse): void {
    this.watches += 1;
    res.writeHead(200, { "Content-Type": "application/json" });
    res.flushHeaders();
    for (const line of this.#lines.slice(Number(query.get("resourceVersion")) - 1)) res.write(line);
    this.watchers.add(res);
    const timer = setTimeout(() => res.end(), Number(query.get("timeoutSeconds") ?? 3_600) * 1_000);
    res.once("close", () => {
      clearTimeout(timer);
      this.watchers.delete(res);
    });
  }

  #page(limit: number, from: number): Buffer {
    const next = from + limit < this.#items.length ? `,"continue":"${from + limit}"` : "";
    const metadata = `"metadata":{"resourceVersion":"${this.#lines.length + 1}"${next}}`;
    return Buffer.from(`{${this.#head},${metadata},"items":[${this.#items.slice(from, from + limit).join(",")}]}`);
  }

  #text({ metadata, ...rest }: Item, ahead = 0): string {
    const object = { metadata: { ...metadata, resourceVersion: String(this.#lines.length + 1 + ahead) }, ...rest };
    return `{${this.#type}${JSON.stringify(object).slice(1)}`;
  }
}

const spaces = new Kept("space.kubestellar.io/v1alpha1", "Space");
const secrets = new Kept("v1", "Secret");
const places = new Map([
  ["/management/apis/space.kubestellar.io/v1alpha1/spaces", spaces],
  ["/management/api/v1/secrets", secrets],
]);
const REFUSED = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", code: 400, message: "read pages" };
let base = "";
let authority = "";
let connections = 0;

/** What each Space serves, and that everybody may. */
const DOCUMENTS: readonly (readonly [RegExp, object])[] = [
  [/^\/s\/\d+\/api$/, { kind: "APIVersions", versions: ["v1"] }],
  [/^\/s\/\d+\/apis$/, { kind: "APIGroupList", apiVersion: "v1", groups: [] }],
  [
    /^\/s\/\d+\/api\/v1$/,
    {
      ...{ kind: "APIResourceList", groupVersion: "v1" },
      resources: [
        {
          ...{ name: "configmaps", singularName: "configmap", namespaced: true, kind: "ConfigMap" },
          verbs: ["get", "list", "watch"],
        },
      ],
    },
  ],
  [
    /\/subjectaccessreviews$/,
    { kind: "SubjectAccessReview", apiVersion: "authorization.k8s.io/v1", spec: {}, status: { allowed: true } },
  ],
];

function answer(req: IncomingMessage, res: ServerResponse): void {
  const { pathname, searchParams } = new URL(req.url ?? "", base);
  const document = DOCUMENTS.find(([path]) => path.test(pathname))?.[1];
  if (document !== undefined) {
    res
      .writeHead(req.method === "POST" ? 201 : 200, { "Content-Type": "application/json" })
      .end(JSON.stringify(document));
    return;
  }
  const kept = places.get(pathname);
  if (kept === undefined) res.writeHead(404).end();
  else if (searchParams.get("sendInitialEvents") === "true")
    res.writeHead(400, { "Content-Type": "application/json" }).end(JSON.stringify(REFUSED));
  else if (searchParams.get("watch") === "true") kept.watch(searchParams, res);
  else kept.list(searchParams, res);
}

const pathOf = (space: number): string => `/s/${space}/api/v1/configmaps`;
const nameOf = (space: number): string => `s${String(space).padStart(4, "0")}`;

function keptOf(space: number): Kept {
  const kept = places.get(pathOf(space));
  if (kept === undefined) throw new Error(`there is no space ${space}`);
  return kept;
}

/** About 500 bytes. */
const object = (space: number, name: string, text = "x".repeat(260)) => ({
  metadata: {
    name,
    namespace: "default",
    uid: `${nameOf(space)}-${name}`,
    creationTimestamp: "2026-01-01T00:00:00Z",
    labels: { "app.kubernetes.io/name": "bench" },
  },
  data: { space: String(space), text },
});

function kubeconfig(space: number): string {
  const cluster = { server: `${base}/s/${space}`, "certificate-authority-data": base64(authority) };
  return JSON.stringify({
    ...{ apiVersion: "v1", kind: "Config", "current-context": "it" },
    clusters: [{ name: "it", cluster }],
    users: [{ name: "it", user: { token: "bench" } }],
    contexts: [{ name: "it", context: { cluster: "it", user: "it" } }],
  });
}

const base64 = (text: string): string => Buffer.from(text).toString("base64");

function secretOf(space: number): Item {
  const metadata = { name: `external-${nameOf(space)}`, namespace: "default", uid: `secret-${space}` };
  return { metadata, type: "Opaque", data: { kubeconfig: base64(kubeconfig(space)) } } as Item;
}

function spaceOf(space: number): Item {
  const externalSecretRef = { namespace: "default", name: `external-${nameOf(space)}` };
  return {
    metadata: { name: nameOf(space), namespace: "default", uid: `space-${space}` },
    spec: { Type: "imported" },
    status: { Phase: "Ready", externalSecretRef, spaceID: `id-${space}` },
  } as Item;
}

interface Range {
  readonly from: number;
  readonly count: number;
}

const commands = {
  listen: async ({ cert, key, ca }: { cert: string; key: string; ca: string }): Promise<number> => {
    authority = ca;
    const server = createServer({ cert, key, keepAliveTimeout: 120_000, requestTimeout: 0, noDelay: true }, answer);
    server.on("secureConnection", () => connections++);
    const port = await listen(server);
    base = `https://127.0.0.1:${port}`;
    return port;
  },
  /** Makes Spaces, each with so many objects. @param later whether whoever follows hears of them as of something new */
  make: ({ from, count, objects, later = false }: Range & { objects: number; later?: boolean }): void => {
    for (let space = from; space < from + count; space++) {
      const kept = new Kept("v1", "ConfigMap");
      for (let n = 0; n < objects; n++) kept.fill(object(space, `o-${n}`));
      places.set(pathOf(space), kept);
      if (later) secrets.put("ADDED", secretOf(space));
      else secrets.fill(secretOf(space));
      if (later) spaces.put("ADDED", spaceOf(space));
      else spaces.fill(spaceOf(space));
    }
  },
  /** Has one object of each Space in turn change, so many times, one every `period` ms. Its text is when that was. */
  change: ({ from, count, times, period }: Range & { times: number; period: number }): Promise<void> =>
    new Promise((resolve) => {
      let n = 0;
      const timer = setInterval(() => {
        const space = from + (n % count);
        keptOf(space).put("MODIFIED", object(space, `tick-${n}`, String(sharedNow())));
        n += 1;
        if (n < times) return;
        clearInterval(timer);
        resolve();
      }, period);
    }),
  /** How many watches are open, and have been begun, in Spaces; how many connections there have been, to all. */
  counts: ({ from, count }: Range): { open: number; begun: number; connections: number } => {
    const all = Array.from({ length: count }, (_, at) => keptOf(from + at));
    const open = all.reduce((sum, { watchers }) => sum + watchers.size, 0);
    return { open, begun: all.reduce((sum, { watches }) => sum + watches, 0), connections };
  },
};

export type SpacesClusters = typeof commands;

serveCommands(commands);
