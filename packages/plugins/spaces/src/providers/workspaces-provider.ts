import { joinWorkspacePath, type KindReference, type ObjectOf } from "@virtual-workspaces/apimachinery";
import { Client } from "@virtual-workspaces/client";
import { onCode } from "@virtual-workspaces/client/http";
import { Workspace } from "@virtual-workspaces/kcp";
import {
  requestCredential,
  SecretFault,
  type SecretKubeconfig,
  secretKubeconfig,
} from "@virtual-workspaces/kcp/targets";
import type {
  PhysicalSpace,
  ProviderCall,
  ProviderChange,
  SpaceAccess,
  SpaceProvider,
  SpaceProviderType,
} from "../provider/provider.ts";
import { digestOf, hostOf, kubeconfigText } from "./reached-server.ts";

/** What {@link workspacesProvider} is given. */
export interface WorkspacesProviderOptions {
  /** Whose workspaces they are where a SpaceProviderDesc names no Secret. @default it must */
  readonly own?: OwnWorkspaces;
  /** How long the tokens are good by which spaces are reached, s: each is replaced when a third of that is over. @default 86400 */
  readonly tokenLifetime?: number;
  /** The type of the workspaces that are made: `root:universal`. @default the server's */
  readonly workspaceType?: string;
}

const LIFETIME = 86_400;
/** TokenRequests that are shorter are refused by Kubernetes, s. */
const SHORTEST = 600;

/**
 * Workspaces of a kcp, or of our workspace server, as spaces: those in one workspace, and in those that Spaces name (`kubestellar.io/space-path`). The Secret of a
 * SpaceProviderDesc has `kubeconfig`, which leads to that workspace (`root` if to none), by a credential that may do everything with the workspaces in it and in them; where spaces
 * are reached otherwise from the management cluster or from elsewhere, `incluster` and `external`, of which the address and its authorities count.
 *
 * Whoever has access to a space is its administrator and nobody anywhere else: a service account of the workspace, `default/space-access`, by tokens that are replaced in time.
 *
 * @throws Error on a lifetime that tokens cannot have
 */
export function workspacesProvider(options: WorkspacesProviderOptions = {}): SpaceProviderType {
  const { own, tokenLifetime = LIFETIME, workspaceType } = options;
  if (!(tokenLifetime >= SHORTEST && tokenLifetime < 2 ** 31))
    throw new Error(`tokenLifetime of workspacesProvider: give seconds, ${SHORTEST} at least`);
  return {
    needsSecret: own === undefined,
    open: ({ secret }) => {
      const isOwn = own !== undefined && Object.keys(secret).length === 0;
      return new Workspaces(isOwn ? ownTarget(own) : targetFromSecret(secret), { tokenLifetime, workspaceType });
    },
  };
}

/** What is said of all workspaces of a provider. */
interface WorkspacesOptions {
  /** s */
  readonly tokenLifetime: number;
  /** A path and a name. */
  readonly workspaceType: string | undefined;
}

const ROOT = "root";
/** After how long a watch is begun again, s, and when it is dead, ms. */
const WATCHED = { timeoutSeconds: 60, idle: 65_000 } as const;

/** The workspaces below a workspace, and the access to each. */
class Workspaces implements SpaceProvider, AsyncDisposable {
  readonly #options: WorkspacesOptions;
  readonly #client: Client;
  readonly #root: string;
  readonly #target: WorkspacesTarget;
  /** Where they are reached: what was said of another target is of no use. */
  readonly #targetDigest: string;

  constructor(target: WorkspacesTarget, options: WorkspacesOptions) {
    this.#options = options;
    this.#target = target;
    this.#client = target.client;
    this.#targetDigest = digestOf(JSON.stringify([target.incluster, target.external]));
    this.#root = this.#client.clusterName === "" ? ROOT : this.#client.clusterName;
  }

  async list({ parent, signal }: ProviderCall): Promise<readonly PhysicalSpace[]> {
    const { items } = await this.#below(parent).all({ signal });
    return items.flatMap((workspace) => this.#space(workspace) ?? []);
  }

  async get(name: string, { parent, signal }: ProviderCall): Promise<PhysicalSpace | undefined> {
    const workspace = await this.#below(parent)
      .get(name, { signal })
      .catch(onCode(404, () => undefined));
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
    const kubeconfigOf = ({ url, ...tls }: ServerAddress): string =>
      kubeconfigText(name, { server: `${url}/clusters/${path}`, ...tls, credential: { token } });
    return { incluster: kubeconfigOf(this.#target.incluster), external: kubeconfigOf(this.#target.external) };
  }

  async create(name: string, { parent, signal }: ProviderCall): Promise<void> {
    const { workspaceType = "" } = this.#options;
    const at = workspaceType.lastIndexOf(":");
    const type = { path: workspaceType.slice(0, Math.max(at, 0)), name: workspaceType.slice(at + 1) };
    const made = this.#below(parent).create(
      { metadata: { name }, spec: workspaceType === "" ? {} : { type } },
      { signal },
    );
    await made.catch(onCode<unknown>(409, () => undefined));
  }

  async delete(name: string, { parent, signal }: ProviderCall): Promise<void> {
    const gone = this.#below(parent).delete(name, { signal });
    await gone.catch(onCode<unknown>(404, () => undefined));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#target.isOwned) await this.#client[Symbol.asyncDispose]();
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
      accessVersion: `${this.#tokenOf(cluster ?? name)}-${this.#targetDigest}`,
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

/** Workspaces of the process itself, or of whatever else a client asks. */
export interface OwnWorkspaces {
  /** By which they are made, in its logical cluster, and by which everything may be done in them. It is not closed. */
  readonly client: Client;
  /** Where they are reached, without `/clusters/…`. */
  readonly url: string;
  /** Who certifies that, PEM. @default whom the machine trusts */
  readonly ca?: string;
}

/** A server as others reach it. */
interface ServerAddress {
  readonly url: string;
  readonly ca?: string | undefined;
  readonly serverName?: string | undefined;
}

/** Whose workspaces are made and shown, and where they are reached. */
interface WorkspacesTarget {
  readonly client: Client;
  /** Whether the client is closed with the provider. */
  readonly isOwned: boolean;
  readonly incluster: ServerAddress;
  readonly external: ServerAddress;
}

function ownTarget({ client, url, ca }: OwnWorkspaces): WorkspacesTarget {
  const server = { url: hostOf(url), ca };
  return { client, isOwned: false, incluster: server, external: server };
}

/** What the Secret of a SpaceProviderDesc says. @throws Error that names the key, what is wrong with it, and the remedy */
function targetFromSecret(secret: Readonly<Record<string, string>>): WorkspacesTarget {
  const own = kubeconfigAt(secret, "kubeconfig");
  if (own === undefined)
    throw new Error("kubeconfig: the Secret has none: give one that leads to the workspace with the spaces");
  const { server, ca, serverName, credential } = own;
  if (credential === undefined) throw new Error("kubeconfig: it names no user: spaces are made by a credential");
  const shown = requestCredential(credential);
  const tls = { ...(ca !== undefined && { ca }), ...(serverName !== undefined && { serverName }) };
  const [incluster, external] = [kubeconfigAt(secret, "incluster") ?? own, kubeconfigAt(secret, "external") ?? own];
  const client = new Client({ upstream: { url: server, tls, credentials: { get: () => shown } } });
  return { client, isOwned: true, incluster: serverOf(incluster), external: serverOf(external) };
}

const serverOf = ({ server, ca, serverName }: SecretKubeconfig): ServerAddress => ({
  url: hostOf(server),
  ca,
  serverName,
});

function kubeconfigAt(secret: Readonly<Record<string, string>>, key: string): SecretKubeconfig | undefined {
  const text = secret[key];
  if (text === undefined) return undefined;
  try {
    return secretKubeconfig(text);
  } catch (error) {
    if (error instanceof SecretFault) throw new Error(`${key}: ${error.message}`, { cause: error });
    throw error;
  }
}

const NAMESPACE = "default";
const NAME = "space-access";
const RBAC = "rbac.authorization.k8s.io";

const ACCOUNT: KindReference = {
  group: "",
  version: "v1",
  kind: "ServiceAccount",
  plural: "serviceaccounts",
  scope: "Namespaced",
};
const BINDING: KindReference = {
  group: RBAC,
  version: "v1",
  kind: "ClusterRoleBinding",
  plural: "clusterrolebindings",
  scope: "Cluster",
};

/** A token of the service account that is a space's administrator, which is made with its rights where it is not there. Secret. @throws ApiError */
async function tokenFor(
  workspace: Client,
  { seconds, signal }: { readonly seconds: number; readonly signal: AbortSignal },
): Promise<string> {
  const accounts = workspace.resource(ACCOUNT).in(NAMESPACE);
  const there = onCode<unknown>(409, () => undefined);
  await accounts.create({ metadata: { name: NAME } }, { signal }).catch(there);
  const binding = {
    metadata: { name: NAME },
    roleRef: { apiGroup: RBAC, kind: "ClusterRole", name: "cluster-admin" },
    subjects: [{ kind: "ServiceAccount", namespace: NAMESPACE, name: NAME }],
  };
  await workspace.resource(BINDING).create(binding, { signal }).catch(there);
  const asked = {
    apiVersion: "authentication.k8s.io/v1",
    kind: "TokenRequest",
    spec: { expirationSeconds: seconds },
  };
  const { status } = (await accounts.subresource("token").create(NAME, asked, { signal })) as TokenRequest;
  if (status?.token) return status.token;
  throw new Error("the workspace has answered a TokenRequest without a token");
}

interface TokenRequest {
  readonly status?: { readonly token?: string };
}
