// A space provider as a program of its own, for managers anywhere: its spaces are API servers that it serves itself, each with notes of its own and a token
// that is good for nothing else. Which spaces there are is kept in a file, so that it may be killed at any time.
//
//   node provider.ts <folder>      writes into it what the Secret of a SpaceProviderDesc has: url, token, ca.crt
import { randomUUID } from "node:crypto";
import { EventEmitter, on, once } from "node:events";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  allow,
  createServer,
  defineResource,
  defineVirtualWorkspace,
  deny,
  groups,
  staticTokens,
} from "@virtual-workspaces/framework";
import { authenticatedUser, bearerTokens } from "@virtual-workspaces/framework/authn";
import { generatedTls } from "@virtual-workspaces/framework/tls";
import { type PhysicalSpace, type SpaceProvider, spaceProviderView } from "@virtual-workspaces/spaces";

type Kept = Readonly<Record<"id" | "token", string>>;
const [folder = "provider"] = process.argv.slice(2);
const kept = join(folder, ".kept");
mkdirSync(kept, { recursive: true, mode: 0o700 });
const { tls, ca } = await generatedTls({ dir: join(kept, "tls") });
/** In place of another, whole or not at all. */
function keep(file: string, text: string): string {
  writeFileSync(`${file}.new`, text, { mode: 0o600 });
  renameSync(`${file}.new`, file);
  return text;
}
const read = (file: string, otherwise: () => string): string =>
  existsSync(file) ? readFileSync(file, "utf8") : keep(file, otherwise());

const file = join(kept, "spaces.json");
const spaces = new Map<string, Kept>(JSON.parse(read(file, () => "[]")));
const changes = new EventEmitter();
function changed(name: string): void {
  keep(file, JSON.stringify([...spaces]));
  changes.emit("changed", name);
}

/** Where it listens, once it does. */
let url = "";
const told = (name: string, { id }: Kept): PhysicalSpace => ({ name, id, externalName: id, phase: "Ready" });
const provider: SpaceProvider = {
  list: async () => [...spaces].map(([name, space]) => told(name, space)),
  get: async (name) => {
    const space = spaces.get(name);
    return space && told(name, space);
  },
  create: async (name) => {
    if (spaces.has(name)) return;
    spaces.set(name, { id: randomUUID(), token: randomUUID() });
    changed(name);
  },
  delete: async (name) => {
    if (spaces.delete(name)) changed(name);
  },
  access: async (name) => {
    const { id, token } = spaces.get(name) ?? {};
    const server = `${url}/services/notes/clusters/${id}`;
    const cluster = { server, "certificate-authority-data": Buffer.from(ca).toString("base64") };
    const contexts = [{ name, context: { cluster: name, user: name } }];
    const named = { clusters: [{ name, cluster }], users: [{ name, user: { token } }], contexts };
    return { external: JSON.stringify({ apiVersion: "v1", kind: "Config", "current-context": name, ...named }) };
  },
  async *watch({ signal }) {
    for await (const [name] of on(changes, "changed", { signal })) yield { name };
  },
};

const Note = defineResource({
  ...{ group: "example.dev", version: "v1", kind: "Note", scope: "Cluster" },
  spec: { type: "object", properties: { text: { type: "string" } } },
});
/** What is in the spaces: each is a logical cluster of it. */
const notes = defineVirtualWorkspace({
  ...{ name: "notes", path: "/clusters/:cluster", resources: [Note.serve(Note.collection())] },
  authorize: ({ user, params }) => (user.name === `space:${params.cluster}` ? allow() : deny("another space's token")),
});
const verify = (given: string) => {
  const space = [...spaces.values()].find(({ token }) => token === given);
  return space && { user: authenticatedUser({ name: `space:${space.id}` }) };
};
await using server = createServer({
  virtualWorkspaces: [spaceProviderView(provider, { authorize: groups("managers") }), notes],
  authentication: [
    staticTokens({ [read(join(folder, "token"), randomUUID)]: { name: "manager", groups: ["managers"] } }),
    bearerTokens({ name: "spaces", verify, remember: 0 }),
  ],
  tls,
});
/** At the same port as before: kubeconfigs name it. */
const port = existsSync(join(folder, "url")) ? Number(new URL(readFileSync(join(folder, "url"), "utf8")).port) : 0;
({ url } = await server.listen({ port }));
keep(join(folder, "ca.crt"), ca);
console.log(keep(join(folder, "url"), `${url}/services/spaces`));
await Promise.race(["SIGINT", "SIGTERM"].map((signal) => once(process, signal)));
