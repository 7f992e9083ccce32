import { createHash } from "node:crypto";
import { ApiError, type GroupResource, type ObjectOf } from "@virtual-workspaces/apimachinery";
import { type Client, Informer, type LifecycleEvent, type Store } from "@virtual-workspaces/client";
import { SecretFault, type SecretKubeconfig, secretKubeconfig } from "@virtual-workspaces/kcp/targets";
import { type AccessScope, KUBECONFIG_KEY } from "../kinds/names.ts";
import { kubeconfigIn, SECRET, type SecretContent } from "../kinds/secret.ts";
import { SECRET_REFERENCES, type SecretRef, Space, type SpaceContent } from "../kinds/space.ts";
import { nameOf, partsOf, type SpaceName } from "./space-name.ts";

export interface AccessInformerOptions {
  readonly client: Client;
  readonly scope: AccessScope;
  /** `undefined` for all namespaces. */
  readonly namespace: string | undefined;
  readonly labels: string | undefined;
  /** Called when a Space or its Secret may have changed. */
  readonly onChange: (name: SpaceName) => void;
  readonly onFailure: (error: Error) => void;
}

/** Informers for Spaces and their access Secrets. Lookups use only the caches. */
export class AccessInformer implements AsyncDisposable {
  readonly #options: AccessInformerOptions;
  readonly #spaces: Informer<SpaceContent>;
  readonly #secrets: Informer<SecretContent>;

  constructor(options: AccessInformerOptions) {
    const { client, scope, namespace, labels, onChange, onFailure } = options;
    const [spaces, secrets] = [client.resource(Space), client.resource(SECRET)];
    const within = <R extends { in(namespace: string): R }>(all: R): R =>
      namespace === undefined ? all : all.in(namespace);
    this.#options = options;
    this.#spaces = new Informer({
      resource: within(spaces),
      ...(labels !== undefined && { labels }),
      indexers: { secret: (space) => [nameOf(secretOf(space, scope) ?? {})] },
    });
    this.#secrets = new Informer({ resource: within(secrets), transform: kubeconfigAlone });
    const lifecycle = (event: LifecycleEvent): void => {
      if (event.type === "error") onFailure(event.error);
    };
    const told = ({ metadata }: Space): void => onChange(nameOf(metadata));
    this.#spaces.on({ added: told, updated: told, deleted: told, lifecycle });
    const concerned = ({ metadata }: ObjectOf<SecretContent>): void => {
      for (const space of this.#spaces.store.byIndex("secret", nameOf(metadata))) told(space);
    };
    this.#secrets.on({ added: concerned, updated: concerned, deleted: concerned, lifecycle });
  }

  /** Starts the informers. @returns resolves when the caches are synced; rejects if it is closed before */
  async start(): Promise<void> {
    await Promise.all([this.#spaces.start().synced, this.#secrets.start().synced]);
  }

  /** Returns the access of a Space; `undefined` if the Space does not exist. */
  of(name: SpaceName): AccessState | undefined {
    const space = this.#spaces.store.get(partsOf(name));
    return space && accessOf(space, this.#secrets.store, this.#options.scope);
  }

  /** Returns the Space object. */
  space(name: SpaceName): Space | undefined {
    return this.#spaces.store.get(partsOf(name));
  }

  /** Names of all Spaces. */
  get names(): SpaceName[] {
    return this.#spaces.store.list().map(({ metadata }) => nameOf(metadata));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#spaces.stop(), this.#secrets.stop()]);
  }
}

/** Removes all other contents of a Secret before it is cached. */
function kubeconfigAlone({ data, ...secret }: ObjectOf<SecretContent>): ObjectOf<SecretContent> {
  const kubeconfig = data?.[KUBECONFIG_KEY];
  return { ...secret, ...(kubeconfig !== undefined && { data: { [KUBECONFIG_KEY]: kubeconfig } }) };
}

/** Connection settings and credential of a Space. Security: they are secret. */
export type SpaceConfig = SecretKubeconfig;

/** State of the access to a Space. */
export type AccessState =
  | {
      readonly usable: true;
      readonly space: Space;
      readonly id: string;
      readonly config: SpaceConfig;
      /** Digests of the server address and of all settings. */
      readonly digests: { readonly server: string; readonly config: string };
    }
  | { readonly usable: false; readonly reason: string; readonly message: string };

type Secret = ObjectOf<SecretContent>;

/** Returns the reference to the access Secret of a scope. */
const secretOf = ({ status }: Space, scope: AccessScope): SecretRef | undefined => status?.[SECRET_REFERENCES[scope]];

/** Evaluates an existing Space and its access Secret. */
function accessOf(space: Space, secrets: Store<Secret>, scope: AccessScope): AccessState {
  const { status, metadata } = space;
  if (status?.Phase !== "Ready") return notReady(space);
  const { namespace = "", name } = secretOf(space, scope) ?? {};
  if (name === undefined) {
    const wanted = scope === "external" ? "External" : "InCluster";
    return unusable(
      "NoAccess",
      `the Space is not available in this network: set spec.accessscopetype to ${wanted} or Both`,
    );
  }
  const secret = secrets.get({ namespace, name });
  if (secret === undefined) return unusable("SecretNotFound", `the Secret ${namespace}/${name} does not exist`);
  const read = parsedSecret(secret);
  if (typeof read === "string") return unusable("SecretInvalid", `the Secret ${namespace}/${name}: ${read}`);
  return { usable: true, space, id: status.spaceID ?? metadata.uid ?? "", ...read };
}

function notReady({ status }: Space): AccessState {
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  return unusable(ready?.reason ?? "NotReady", ready?.message || "the Space is not Ready and gives no reason");
}

const unusable = (reason: string, message: string): AccessState => ({ usable: false, reason, message });

type ParsedSecret = Pick<Extract<AccessState, { usable: true }>, "config" | "digests">;

/** Parsed Secrets, by their immutable objects. */
const PARSED = new WeakMap<Secret, ParsedSecret | string>();

/** Parses a Secret. @returns the problem if it is invalid */
function parsedSecret(secret: Secret): ParsedSecret | string {
  const known = PARSED.get(secret) ?? parseSecret(secret);
  PARSED.set(secret, known);
  return known;
}

function parseSecret(secret: Secret): ParsedSecret | string {
  const text = kubeconfigIn(secret);
  if (text === undefined) return "the kubeconfig is missing";
  try {
    const config = secretKubeconfig(text);
    const { credential: _, ...server } = config;
    return { config, digests: { server: digestOf(server), config: digestOf(config) } };
  } catch (error) {
    if (error instanceof SecretFault) return error.message;
    throw error;
  }
}

const digestOf = (value: object): string => createHash("sha256").update(JSON.stringify(value)).digest("base64url");

/** State of a Space for its users: a Kubernetes condition of type `Ready`. */
export interface SpaceState {
  readonly name: SpaceName;
  readonly ready: boolean;
  /** `Ready`; the reason of the Space's own condition; `NoAccess`, `SecretNotFound`, `SecretInvalid` or `Refused`. */
  readonly reason: string;
  /** Problem and remedy, without secrets. */
  readonly message: string;
}

const SPACES: GroupResource = { group: Space.group, resource: Space.plural };

/** Returns the error for an unusable Space: 404 if it does not exist, 503 if it may become ready later. */
export function unusableError(name: SpaceName, state: SpaceState | undefined): ApiError {
  if (state === undefined) return ApiError.notFound(SPACES, name);
  return ApiError.serviceUnavailable(`space ${name} is not available: ${state.reason}: ${state.message}`);
}
