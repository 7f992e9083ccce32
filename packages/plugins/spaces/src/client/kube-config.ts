import {
  type ApiConstructor,
  type ApiType,
  type Cluster,
  type Context,
  createConfiguration,
  type HttpMethod,
  KubeConfig,
  type RequestContext,
  ServerConfiguration,
  type User,
} from "@kubernetes/client-node";
import { ApiError } from "@virtual-workspaces/apimachinery";
import type { EngagedSpace } from "./engaged-space.ts";
import type { Spaces } from "./spaces.ts";

/** Selects the Space of a KubeConfig: `Spaces` does. */
type SpacePicker = Pick<Spaces, "current" | "of">;

/**
 * Returns a KubeConfig of `@kubernetes/client-node` that selects the Space of each request by `spaces.within`. Clients created from
 * it once work across Spaces and use current credentials.
 *
 * @throws ApiError 400 from what uses it outside of `spaces.within`
 */
export function kubeConfig(spaces: SpacePicker): KubeConfig {
  return new PickingKubeConfig(spaces);
}

class PickingKubeConfig extends KubeConfig {
  readonly #spaces: SpacePicker;

  constructor(spaces: SpacePicker) {
    super();
    this.#spaces = spaces;
  }

  get #own(): KubeConfig {
    const name = this.#spaces.current;
    if (name === undefined)
      throw ApiError.badRequest("no Space is selected: call this in spaces.within(<name>, () => …)");
    return this.#spaces.of(name, kubeConfigOf);
  }

  override getCurrentContext(): string {
    return this.#own.getCurrentContext();
  }

  override getContextObject(name: string): Context | null {
    return this.#own.getContextObject(name);
  }

  override getCurrentCluster(): Cluster | null {
    return this.#own.getCurrentCluster();
  }

  override getCurrentUser(): User | null {
    return this.#own.getCurrentUser();
  }

  override applyToHTTPSOptions(...args: Parameters<KubeConfig["applyToHTTPSOptions"]>): Promise<void> {
    return this.#own.applyToHTTPSOptions(...args);
  }

  override applySecurityAuthentication(context: RequestContext): Promise<void> {
    return this.#own.applySecurityAuthentication(context);
  }

  override makeApiClient<T extends ApiType>(type: ApiConstructor<T>): T {
    const baseServer = {
      makeRequestContext: (endpoint: string, method: HttpMethod) =>
        new ServerConfiguration(this.#own.getCurrentCluster()?.server ?? "", {}).makeRequestContext(endpoint, method),
    };
    return new type(createConfiguration({ baseServer, authMethods: { default: this } }));
  }
}

function kubeConfigOf({ name, config }: EngagedSpace): KubeConfig {
  const { server, ca, serverName, credential = {} } = config;
  const { token, basic, cert, key } = credential;
  const colon = basic?.indexOf(":") ?? 0;
  const own = new KubeConfig();
  own.loadFromClusterAndUser(
    {
      // Without TLS, the official client needs this flag.
      name,
      server,
      skipTLSVerify: server.startsWith("http:"),
      ...(ca !== undefined && { caData: base64(ca) }),
      ...(serverName !== undefined && { tlsServerName: serverName }),
    },
    {
      name,
      ...(token !== undefined && { token }),
      ...(basic !== undefined && { username: basic.slice(0, colon), password: basic.slice(colon + 1) }),
      ...(cert !== undefined && key !== undefined && { certData: base64(cert), keyData: base64(key) }),
    },
  );
  return own;
}

const base64 = (text: string): string => Buffer.from(text).toString("base64");
