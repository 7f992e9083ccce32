// Clients create, bind and delete workspaces without a pause until their server is gone. The ledger of acknowledged writes
// outlives the server.
import { expect } from "chai";
import type { Random } from "../../../_support/random.ts";
import type { Admin, Told } from "./admin.ts";
import {
  binding,
  configMap,
  gadget,
  gadgets,
  namespace,
  paths,
  widget,
  widgetExport,
  widgetSchema,
  within,
  workspace,
} from "./tree.ts";

/** Known state of an object: exists, under deletion, or unknown after a request without a response. */
type Standing = "there" | "leaving" | "unsure";

/** Number of clients. */
const CLIENTS = 4;

export class Storm {
  readonly #random: Random;
  /** States by URL path. */
  readonly #ledger = new Map<string, Standing>();
  #count = 0;
  #acknowledged = 0;
  readonly #waiting = new Set<() => void>();

  constructor(random: Random) {
    this.#random = random;
  }

  /** Number of acknowledged writes. */
  get acknowledged(): number {
    return this.#acknowledged;
  }

  /** Resolves after that many more acknowledged writes. */
  async more(count: number): Promise<void> {
    const wanted = this.#acknowledged + count;
    while (this.#acknowledged < wanted) await new Promise<void>((resolve) => this.#waiting.add(resolve));
  }

  /** Creates the export that all bind. */
  async prepare(admin: Admin): Promise<void> {
    await this.#create(admin, within("root", paths.WORKSPACES), workspace("provider"));
    await this.#ready(admin, within("root", `${paths.WORKSPACES}/provider`));
    await this.#create(admin, within("root:provider", paths.SCHEMAS), widgetSchema());
    await this.#create(admin, within("root:provider", paths.EXPORTS), widgetExport("widgets"));
  }

  /** Sends requests until the server is gone. */
  async blow(admin: Admin): Promise<void> {
    await Promise.all(Array.from({ length: CLIENTS }, () => this.#client(admin).catch(onlyLost)));
  }

  /** Expects that acknowledged writes are kept, and deletions completed. */
  async expectKept(admin: Admin): Promise<void> {
    for (const [path, standing] of this.#ledger) {
      if (standing === "unsure") continue;
      if (standing === "leaving") await admin.until(path, ({ status }) => status === 404 || status === 403);
      else expect((await admin.get(path)).status, path).to.equal(200);
    }
  }

  async #client(admin: Admin): Promise<void> {
    for (;;) {
      const name = `w${this.#count++}`;
      const at = within("root", paths.WORKSPACES);
      await this.#create(admin, at, workspace(name));
      const path = `${at}/${name}`;
      // Some are deleted before they are Ready.
      if (this.#random.chance(0.8)) await this.#fill(admin, path, `root:${name}`);
      if (this.#random.chance(0.6)) await this.#delete(admin, path, `/clusters/root:${name}`);
    }
  }

  async #fill(admin: Admin, path: string, cluster: string): Promise<void> {
    await this.#ready(admin, path);
    const at = (place: string): string => within(cluster, place);
    const create = (place: string, object: object): Promise<void> => this.#create(admin, at(place), object);
    const parts = [
      async () => {
        await create(paths.MAPS, configMap("kept"));
        await create(paths.WORKSPACES, workspace("child"));
        if (this.#random.chance(0.5)) {
          await this.#ready(admin, at(`${paths.WORKSPACES}/child`));
          await this.#create(admin, within(`${cluster}:child`, paths.MAPS), configMap("kept"));
        }
        if (this.#random.chance(0.3))
          await this.#delete(admin, at(`${paths.WORKSPACES}/child`), `/clusters/${cluster}:child`);
      },
      async () => {
        await create(paths.BINDINGS, binding("widgets", "root:provider"));
        const widgets = "/apis/example.dev/v1/widgets";
        await create(paths.MAPS, configMap("claimed"));
        if (this.#random.chance(0.3)) return;
        await admin.until(at(widgets), ({ status }) => status === 200);
        for (let one = 0; one < 3; one++) await create(widgets, widget(`one-${one}`));
        if (this.#random.chance(0.4)) await this.#delete(admin, at(`${paths.BINDINGS}/widgets`), at(widgets));
      },
      async () => {
        await create(paths.NAMESPACES, namespace("more"));
        for (let one = 0; one < 5; one++) await create("/api/v1/namespaces/more/configmaps", configMap(`one-${one}`));
        if (this.#random.chance(0.5))
          await this.#delete(admin, at(`${paths.NAMESPACES}/more`), at("/api/v1/namespaces/more"));
      },
      async () => {
        await create(paths.CRDS, gadgets());
        if (this.#random.chance(0.3)) return;
        const own = "/apis/own.dev/v1/gadgets";
        await admin.until(at(own), ({ status }) => status === 200);
        await create(own, gadget("one"));
        if (this.#random.chance(0.4)) await this.#delete(admin, at(`${paths.CRDS}/gadgets.own.dev`), at(own));
      },
      async () => {
        await create(paths.SCHEMAS, widgetSchema());
        await create(paths.EXPORTS, widgetExport("own"));
      },
    ];
    await Promise.all(parts.filter(() => this.#random.chance(0.5)).map((part) => part()));
  }

  async #ready(admin: Admin, path: string): Promise<void> {
    await admin.until(path, ({ body }) => body.status?.phase === "Ready");
  }

  async #create(admin: Admin, path: string, object: object): Promise<void> {
    const { name } = (object as { readonly metadata: { readonly name: string } }).metadata;
    await this.#write(`${path}/${name}`, "there", () => admin.send("POST", path, object));
  }

  /** Also deletes everything below `place`. */
  async #delete(admin: Admin, path: string, place: string): Promise<void> {
    const below = [...this.#ledger.keys()].filter((key) => key.startsWith(`${place}/`) || key.startsWith(`${place}:`));
    for (const each of below) this.#ledger.set(each, "unsure");
    await this.#write(path, "leaving", () => admin.send("DELETE", path));
    for (const each of below) this.#ledger.set(each, "leaving");
  }

  async #write(path: string, standing: Standing, send: () => Promise<Told>): Promise<void> {
    this.#ledger.set(path, "unsure");
    const { status, body } = await send();
    expect(status, `${path}: ${JSON.stringify(body)}`).to.be.below(300);
    this.#ledger.set(path, standing);
    this.#acknowledged++;
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }
}

/** The server was killed, so requests in flight fail. */
function onlyLost(error: unknown): void {
  const { code } = error as { readonly code?: string };
  if (code === "ECONNRESET" || code === "ECONNREFUSED" || code === "EPIPE") return;
  throw error;
}
