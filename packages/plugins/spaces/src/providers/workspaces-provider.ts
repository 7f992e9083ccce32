import { joinWorkspacePath, type KindReference, type ObjectOf, quote } from "@virtual-workspaces/apimachinery";
import { Client } from "@virtual-workspaces/client";
import { onCode } from "@virtual-workspaces/client/http";
import { Workspace } from "@virtual-workspaces/kcp";
import {
  requestCredential,
  SecretFault,
  type SecretKubeconfig,
  secretKubeconfig,
} from "@virtual-workspaces/kcp/targets";
import { labelOf, PROVIDER_LABEL } from "../kinds/names.ts";
import type {
  PhysicalSpace,
  ProviderCall,
  ProviderChange,
  SpaceAccess,
  SpaceProvider,
  SpaceProviderType,
} from "../provider/provider.ts";
import { digestOf, hostOf, kubeconfigText } from "./reached-server.ts";

/** Options of {@link workspacesProvider}. */
export interface WorkspacesProviderOptions {
  /** Workspaces for a SpaceProviderDesc without a Secret. @default the Secret is required */
  readonly own?: OwnWorkspaces;
  /** Lifetime of the tokens in access Secrets, s. Each is replaced after a third of it. @default 86400 */
  readonly tokenLifetime?: number;
  /** Type of new workspaces, such as `root:universal`. @default the server's default */
  readonly workspaceType?: string;
}

const LIFETIME = 86_400;
/** Shortest lifetime of a token that Kubernetes accepts in a TokenRequest, s. */
const SHORTEST = 600;

/**
 * Provider type for workspaces of kcp or of this project's workspace server: those below one workspace, and below the parents that Spaces
 * name (`kubestellar.io/space-path`). The Secret of a SpaceProviderDesc has `kubeconfig`, which points to that workspace (default `root`)
 * with a credential that administers it and the workspaces below. If clients reach spaces at other addresses, the kubeconfigs `incluster`
 * and `external` give the address and CA certificate for each scope.
 *
 * Security: access to a space is that of its administrator, and grants nothing elsewhere. It is the service account `default/space-access`
 * of the workspace, with tokens that are rotated.
 *
 * @throws Error on an invalid token lifetime
 */
export function workspacesProvider(options: WorkspacesProviderOptions = {}): SpaceProviderType {
  const { own, tokenLifetime = LIFETIME, workspaceType } = options;
  if (!(tokenLifetime >= SHORTEST && tokenLifetime < 2 ** 31))
    throw new Error(`invalid tokenLifetime of workspacesProvider: use at least ${SHORTEST} s`);
  const isOwn = (secret: Readonly<Record<string, string>>): boolean => Object.keys(secret).length === 0;
  return {
    needsSecret: own === undefined,
    place: ({ secret }) => {
      if (own !== undefined && isOwn(secret)) return placeOf(own.url, own.client.clusterName);
      const { server } = parentIn(secret);
      return placeOf(server, server.slice(hostOf(server).length).replace(/^\/clusters\//, ""));
    },
    open: ({ name, secret }) => {
      const target = own !== undefined && isOwn(secret) ? ownTarget(own) : targetFromSecret(secret);
      return new Workspaces(target, { provider: name, tokenLifetime, workspaceType });
    },
  };
}

const placeOf = (server: string, workspace: string): string =>
  `workspaces ${hostOf(server)} ${workspace.replace(/\/+$/, "") || ROOT}`;

/** Settings of all workspaces of a provider. */
interface WorkspacesOptions {
  /** Name of the SpaceProviderDesc. */
  readonly provider: string;
  /** s */
  readonly tokenLifetime: number;
  /** Workspace path and name of the type. */
  readonly workspaceType: string | undefined;
}

const ROOT = "root";
/** Duration of a watch, s, and the pause after which it counts as dead, ms. */
const WATCHED = { timeoutSeconds: 60, idle: 65_000 } as const;

/**
 * Workspaces below a workspace, and their access tokens. A label marks those that the provider has made, and those of other providers are
 * not its spaces. Workspaces without the label are discovered.
 */
class Workspaces implements SpaceProvider, AsyncDisposable {
  readonly #options: WorkspacesOptions;
  readonly #client: Client;
  readonly #root: string;
  readonly #target: WorkspacesTarget;
  /** Digest of the target. Tokens of another target are not reused. */
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
    return items
      .filter((workspace) => !this.#isForeign(workspace))
      .flatMap((workspace) => this.#space(workspace) ?? []);
  }

  async get(name: string, { parent, signal }: ProviderCall): Promise<PhysicalSpace | undefined> {
    const workspace = await this.#get(name, { parent, signal });
    return workspace === undefined || this.#isForeign(workspace) ? undefined : this.#space(workspace);
  }

  async *watch({ parent, signal }: ProviderCall): AsyncGenerator<ProviderChange, void, undefined> {
    const workspaces = this.#below(parent);
    const { resourceVersion = "" } = (await workspaces.list({ limit: 1, signal })).metadata;
    // Covers changes from before the watch: a concurrent list may have returned an earlier state.
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
    const labels = { [PROVIDER_LABEL]: this.#label };
    const made = this.#below(parent).create(
      { metadata: { name, labels }, spec: workspaceType === "" ? {} : { type } },
      { signal },
    );
    if ((await made.catch(onCode<unknown>(409, () => undefined))) !== undefined) return;
    const there = await this.#get(name, { parent, signal });
    if (there !== undefined && this.#isForeign(there))
      throw new Error(
        `metadata.name: the workspace with this name belongs to the provider ${quote(ownerOf(there) ?? "")}: use another name`,
      );
  }

  async delete(name: string, { parent, signal }: ProviderCall): Promise<void> {
    const there = await this.#get(name, { parent, signal });
    if (there === undefined || this.#isForeign(there)) return;
    const { uid = "" } = there.metadata;
    const gone = this.#below(parent).delete(name, { signal, preconditions: { uid } });
    await gone.catch(onCode<unknown>(404, () => undefined));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#target.isOwned) await this.#client[Symbol.asyncDispose]();
  }

  get #label(): string {
    return labelOf(this.#options.provider);
  }

  #isForeign(workspace: AnyWorkspace): boolean {
    const owner = ownerOf(workspace);
    return owner !== undefined && owner !== this.#label;
  }

  #get(name: string, { parent, signal }: ProviderCall): Promise<AnyWorkspace | undefined> {
    return this.#below(parent)
      .get(name, { signal })
      .catch(onCode(404, () => undefined));
  }

  #below(parent = this.#root) {
    return this.#client.cluster(parent).resource(Workspace);
  }

  /** A mount is skipped: it belongs to another cluster. */
  #space({ metadata, spec, status }: AnyWorkspace): PhysicalSpace | undefined {
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

  /** Returns the version of a space's token. It changes after a third of the lifetime, at a different time for each space. */
  #tokenOf(id: string): string {
    const period = (this.#options.tokenLifetime * 1000) / 3;
    let spread = 0;
    for (const char of id) spread = (spread * 31 + char.charCodeAt(0)) % 65_536;
    return String(Math.floor(Date.now() / period + spread / 65_536));
  }
}

type AnyWorkspace = ObjectOf<object> & Workspace;

/** Returns the label of the provider that has made a workspace. */
const ownerOf = ({ metadata }: AnyWorkspace): string | undefined => metadata.labels?.[PROVIDER_LABEL];

/** Workspaces of this process, or of the server of any client. */
export interface OwnWorkspaces {
  /** Client that creates workspaces in its logical cluster and administers them. The provider does not close it. */
  readonly client: Client;
  /** Base URL of the workspaces, without `/clusters/…`. */
  readonly url: string;
  /** CA certificate of that URL, PEM. @default the CA certificates of the machine */
  readonly ca?: string;
}

/** Address of a server for clients. */
interface ServerAddress {
  readonly url: string;
  readonly ca?: string | undefined;
  readonly serverName?: string | undefined;
}

/** Server with the workspaces of a provider, and its addresses. */
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

/** Returns the target of a SpaceProviderDesc's Secret. @throws Error that names the key, the problem and the remedy */
function targetFromSecret(secret: Readonly<Record<string, string>>): WorkspacesTarget {
  const own = parentIn(secret);
  const { server, ca, serverName, credential } = own;
  if (credential === undefined) throw new Error("kubeconfig: no user: add a credential that may create workspaces");
  const shown = requestCredential(credential);
  const tls = { ...(ca !== undefined && { ca }), ...(serverName !== undefined && { serverName }) };
  const [incluster, external] = [kubeconfigAt(secret, "incluster") ?? own, kubeconfigAt(secret, "external") ?? own];
  const client = new Client({ upstream: { url: server, tls, credentials: { get: () => shown } } });
  return { client, isOwned: true, incluster: serverOf(incluster), external: serverOf(external) };
}

/** Returns the kubeconfig of the parent workspace. @throws as {@link targetFromSecret} */
function parentIn(secret: Readonly<Record<string, string>>): SecretKubeconfig {
  const own = kubeconfigAt(secret, "kubeconfig");
  if (own !== undefined) return own;
  throw new Error("kubeconfig: missing in the Secret: add one that points to the parent workspace of the spaces");
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

/**
 * Returns a token of the service account that administers a space, and creates the account and its rights if needed. Security: the token is
 * a credential.
 * @throws ApiError
 */
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
  throw new Error("the response to a TokenRequest has no token");
}

interface TokenRequest {
  readonly status?: { readonly token?: string };
}
