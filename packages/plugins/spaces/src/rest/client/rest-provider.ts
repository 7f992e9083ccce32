import { type Dial, Upstream } from "@virtual-workspaces/transport";
import type { SpaceProvider, SpaceProviderType } from "../../provider/provider.ts";
import { PATHS } from "../protocol.ts";
import { isLoopback, type PlaceOptions, placeIn } from "./place.ts";
import { RestCalls } from "./rest-calls.ts";
import { restSpaces } from "./rest-spaces.ts";
import { shown } from "./said.ts";

/** What {@link restProvider} is given. What `mountedServers()` of `@virtual-workspaces/mounts` gives fits in it. */
export interface RestProviderOptions {
  /**
   * Where a URL is reached from here; what it throws refuses it. Whoever makes a SpaceProviderDesc and a Secret says where the manager connects to.
   * @default the URL itself, whatever it is
   */
  readonly rewrite?: (url: string, provider: string) => string;
  /** Makes the connections: that of `mountedServers()` makes none to this machine, its links, or where clouds give out credentials. @default anywhere, by TCP */
  readonly dial?: Dial;
  /** Whether a host may be asked by plain http: then whoever is on the way has the credential, and all kubeconfigs. @default this machine alone */
  readonly mayAskPlain?: (host: string) => boolean;
  /** How long an answer may take, ms. @default 30000 */
  readonly timeout?: number;
  /** How long a watch may say nothing before it is begun again, ms: providers say something every 30 s. @default 60000 */
  readonly silence?: number;
}

/**
 * A provider in a process of its own, in any language, which answers as {@link spaceProviderOpenAPI} says. The Secret of a SpaceProviderDesc has `url`, where that is
 * below, and who asks: `token`, or `tls.crt` with `tls.key`; `ca.crt` is who has certified the provider, if not one whom the machine trusts. What the provider is able to do is asked for
 * when it is opened, and again when the Secret changes.
 *
 * Its certificate is verified, no redirect is followed, and what it says is believed as far as it is well-formed, and no longer than 16 MiB. That a space is gone it has to say
 * in as many words: no other 404, and no failure, is taken for that. What it says of why it cannot do something is told in conditions.
 *
 * @throws Error on times that are none
 */
export function restProvider(options: RestProviderOptions = {}): SpaceProviderType {
  const { rewrite, dial, mayAskPlain = isLoopback, timeout = 30_000, silence = 60_000 } = options;
  for (const [name, value] of Object.entries({ timeout, silence }))
    if (!(value >= 1 && value < 2 ** 31)) throw new Error(`${name} of restProvider: give milliseconds, 1 at least`);
  const place: PlaceOptions = { rewrite, mayAskPlain };
  return {
    needsSecret: true,
    open: async ({ name, secret, signal }): Promise<SpaceProvider & AsyncDisposable> => {
      const upstream = new Upstream({ ...placeIn(secret, name, place), ...(dial && { dial }) });
      await using opening = new AsyncDisposableStack();
      const calls = opening.use(new RestCalls({ upstream, timeout, silence }));
      const { value: status } = await calls.json("ProviderStatus", { path: PATHS.status, signal });
      if (!status.ready)
        throw new Error(`the provider is not ready: ${shown(status.message ?? "it does not say why")}`);
      opening.move();
      return restSpaces(calls, status.capabilities);
    },
  };
}
