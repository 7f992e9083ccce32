import { joinWorkspacePath, type ObjectOf } from "@virtual-workspaces/apimachinery";
import { type Client, orElse } from "@virtual-workspaces/client";
import { Workspace } from "@virtual-workspaces/kcp";
import type {
  PhysicalSpace,
  ProviderCall,
  ProviderChange,
  SpaceAccess,
  SpaceProvider,
} from "../../provider/provider.ts";
import { digestOf, kubeconfigText } from "../kubeconfig.ts";
import type { ServerPlace, WorkspacesPlace } from "./place.ts";
import { tokenFor } from "./token.ts";

/** What is said of all workspaces of a provider. */
export interface WorkspacesOptions {
  /** s */
  readonly tokenLifetime: number;
  /** A path and a name. */
  readonly workspaceType: string | undefined;
}

const ROOT = "root";
/** After how long a watch is begun again, s, and when it is dead, ms. */
const WATCHED = { timeoutSeconds: 60, idle: 65_000 } as const;

/** The workspaces below a workspace, and the access to each. */
export class Workspaces implements SpaceProvider, AsyncDisposable {
  readonly #options: WorkspacesOptions;
  readonly #client: Client;
  readonly #root: string;
  readonly #place: WorkspacesPlace;
  /** Where they are reached: what was said of another place is of no use. */
  readonly #placed: string;

  constructor(place: WorkspacesPlace, options: WorkspacesOptions) {
    this.#options = options;
    this.#place = place;
    this.#client = place.client;
    this.#placed = digestOf(JSON.stringify([place.incluster, place.external]));
    this.#root = this.#client.clusterName === "" ? ROOT : this.#client.clusterName;
  }

  async list({ parent, signal }: ProviderCall): Promise<readonly PhysicalSpace[]> {
    const { items } = await this.#below(parent).all({ signal });
    return items.flatMap((workspace) => this.#space(workspace) ?? []);
  }

  async get(name: string, { parent, signal }: ProviderCall): Promise<PhysicalSpace | undefined> {
    const workspace = await this.#below(parent)
      .get(name, { signal })
      .catch(orElse(404, () => undefined));
    return workspace && this.#space(workspace);
  }

  async *watch({ parent, signal }: ProviderCall): AsyncGenerator<ProviderChange, void, undefined> {
    const workspaces = this.#below(parent);
    const { resourceVersion = "" } = (await workspaces.list({ limit: 1, signal })).metadata;
    // Whoever lists them meanwhile may have been told what was before.
    yield {};
    for await (const { type, object } of workspaces.watch({ resourceVersion, signal, ...WATCHED }))
      if (type !== "BOOKMARK" && object.metadata.name !== undefined) yield { name: object.metadata.name };
  }

  async access(name: string, { parent = this.#root, signal }: ProviderCall): Promise<SpaceAccess> {
    const path = joinWorkspacePath(parent, name);
    const token = await tokenFor(this.#client.cluster(path), { seconds: this.#options.tokenLifetime, signal });
    const textOf = ({ url, ...tls }: ServerPlace): string =>
      kubeconfigText(name, { server: `${url}/clusters/${path}`, ...tls, credential: { token } });
    return { incluster: textOf(this.#place.incluster), external: textOf(this.#place.external) };
  }

  async create(name: string, { parent, signal }: ProviderCall): Promise<void> {
    const { workspaceType = "" } = this.#options;
    const at = workspaceType.lastIndexOf(":");
    const type = { path: workspaceType.slice(0, Math.max(at, 0)), name: workspaceType.slice(at + 1) };
    const made = this.#below(parent).create(
      { metadata: { name }, spec: workspaceType === "" ? {} : { type } },
      { signal },
    );
    await made.catch(orElse<unknown>(409, () => undefined));
  }

  async delete(name: string, { parent, signal }: ProviderCall): Promise<void> {
    const gone = this.#below(parent).delete(name, { signal });
    await gone.catch(orElse<unknown>(404, () => undefined));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#place.isOwned) await this.#client[Symbol.asyncDispose]();
  }

  #below(parent = this.#root) {
    return this.#client.cluster(parent).resource(Workspace);
  }

  /** A mount is somebody else's cluster. */
  #space({ metadata, spec, status }: ObjectOf<object> & Workspace): PhysicalSpace | undefined {
    const { name = "", deletionTimestamp } = metadata;
    if (spec.mount !== undefined) return undefined;
    const { cluster } = spec;
    const isReady = status?.phase === "Ready" && deletionTimestamp === undefined && cluster !== undefined;
    const message =
      deletionTimestamp === undefined ? `the workspace is ${status?.phase ?? "new"}` : "the workspace is being deleted";
    return {
      name,
      ...(cluster !== undefined && { id: cluster, externalName: cluster }),
      ...(isReady ? { phase: "Ready" } : { phase: "Initializing", message }),
      accessVersion: `${this.#tokenOf(cluster ?? name)}-${this.#placed}`,
    };
  }

  /** Which token of a space it is now: replaced when a third of its time is over, and not all of them at once. */
  #tokenOf(id: string): string {
    const period = (this.#options.tokenLifetime * 1000) / 3;
    let spread = 0;
    for (const char of id) spread = (spread * 31 + char.charCodeAt(0)) % 65_536;
    return String(Math.floor(Date.now() / period + spread / 65_536));
  }
}
