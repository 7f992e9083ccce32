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
  /** `undefined`: of all. */
  readonly namespace: string | undefined;
  readonly labels: string | undefined;
  /** Something may have changed of a Space, or of its Secret. */
  readonly onChange: (name: SpaceName) => void;
  readonly onFailure: (error: Error) => void;
}

/** Spaces, and the Secrets that lead to them, kept in step by watch: nobody is asked for what is known here. */
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

  /** Begins. @returns resolves when everything has been read; rejects when it is ended before */
  async start(): Promise<void> {
    await Promise.all([this.#spaces.start().synced, this.#secrets.start().synced]);
  }

  /** What there is, `undefined`: there is no such Space. */
  of(name: SpaceName): AccessState | undefined {
    const space = this.#spaces.store.get(partsOf(name));
    return space && accessOf(space, this.#secrets.store, this.#options.scope);
  }

  /** Its object. */
  space(name: SpaceName): Space | undefined {
    return this.#spaces.store.get(partsOf(name));
  }

  /** All Spaces. */
  get names(): SpaceName[] {
    return this.#spaces.store.list().map(({ metadata }) => nameOf(metadata));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#spaces.stop(), this.#secrets.stop()]);
  }
}

/** Nothing else of a Secret is kept here. */
function kubeconfigAlone({ data, ...secret }: ObjectOf<SecretContent>): ObjectOf<SecretContent> {
  const kubeconfig = data?.[KUBECONFIG_KEY];
  return { ...secret, ...(kubeconfig !== undefined && { data: { [KUBECONFIG_KEY]: kubeconfig } }) };
}

/** How a space is reached, and by which credential. Secret. */
export type SpaceConfig = SecretKubeconfig;

/** What there is of the access to a Space. */
export type AccessState =
  | {
      readonly usable: true;
      readonly space: Space;
      readonly id: string;
      readonly config: SpaceConfig;
      /** Of where it is reached, and of everything. */
      readonly digests: { readonly server: string; readonly config: string };
    }
  | { readonly usable: false; readonly reason: string; readonly message: string };

type Secret = ObjectOf<SecretContent>;

/** Which Secret leads to a Space. */
const secretOf = ({ status }: Space, scope: AccessScope): SecretRef | undefined => status?.[SECRET_REFERENCES[scope]];

/** Looks at a Space that is there, and at the Secret that leads to it. */
function accessOf(space: Space, secrets: Store<Secret>, scope: AccessScope): AccessState {
  const { status, metadata } = space;
  if (status?.Phase !== "Ready") return notReady(space);
  const { namespace = "", name } = secretOf(space, scope) ?? {};
  if (name === undefined) {
    const wanted = scope === "external" ? "External" : "InCluster";
    return unusable("NoAccess", `it is not reached from here: spec.accessscopetype has to be ${wanted}, or Both`);
  }
  const secret = secrets.get({ namespace, name });
  if (secret === undefined) return unusable("SecretNotFound", `the Secret ${namespace}/${name} is not there`);
  const read = parsedSecret(secret);
  if (typeof read === "string") return unusable("SecretInvalid", `the Secret ${namespace}/${name}: ${read}`);
  return { usable: true, space, id: status.spaceID ?? metadata.uid ?? "", ...read };
}

function notReady({ status }: Space): AccessState {
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  return unusable(ready?.reason ?? "NotReady", ready?.message || "it is not Ready, and does not say why");
}

const unusable = (reason: string, message: string): AccessState => ({ usable: false, reason, message });

type ParsedSecret = Pick<Extract<AccessState, { usable: true }>, "config" | "digests">;

/** What has been read of Secrets, which are never changed, but replaced. */
const PARSED = new WeakMap<Secret, ParsedSecret | string>();

/** What a Secret says, or what is wrong with it. */
function parsedSecret(secret: Secret): ParsedSecret | string {
  const known = PARSED.get(secret) ?? parseSecret(secret);
  PARSED.set(secret, known);
  return known;
}

function parseSecret(secret: Secret): ParsedSecret | string {
  const text = kubeconfigIn(secret);
  if (text === undefined) return "it has no kubeconfig";
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

/** How a Space is for those who want to use it: a Kubernetes condition of type `Ready`. */
export interface SpaceState {
  readonly name: SpaceName;
  readonly ready: boolean;
  /** `Ready`; the Space's own reason where it is not Ready; `NoAccess`, `SecretNotFound`, `SecretInvalid`, `Refused`. */
  readonly reason: string;
  /** What is wrong, and the remedy; without anything secret. */
  readonly message: string;
}

const SPACES: GroupResource = { group: Space.group, resource: Space.plural };

/** Why a Space cannot be used: 404 where there is none, 503 where it is not ready, and may be later. */
export function unusableError(name: SpaceName, state: SpaceState | undefined): ApiError {
  if (state === undefined) return ApiError.notFound(SPACES, name);
  return ApiError.serviceUnavailable(`space ${name} cannot be used now: ${state.reason}: ${state.message}`);
}
