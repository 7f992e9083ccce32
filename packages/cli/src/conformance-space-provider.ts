import type { SpaceProviderCheckOptions } from "@virtual-workspaces/testing";
import { UsageError } from "./usage.ts";

/** What a check of a space provider is told by flags. */
export interface SpaceProviderFlags {
  readonly "space-provider"?: boolean;
  readonly parent?: string;
  readonly "ready-within"?: string;
  readonly write?: boolean;
}

/** What is said of API servers, and of them alone. */
const OF_SERVERS = [
  "resource",
  "namespace",
  "sample",
  "patch-only-token-file",
  "other-token-file",
  "collects",
  "strict",
] as const;
const OF_PROVIDERS = ["parent", "ready-within"] as const;

/** @returns `undefined` where it is an API server that is to be checked @throws UsageError on flags that are about the other */
export function spaceProviderOptions(
  flags: SpaceProviderFlags & { readonly [Name in (typeof OF_SERVERS)[number]]?: unknown },
): Pick<SpaceProviderCheckOptions, "parent" | "write" | "deadlines"> | undefined {
  const isProvider = flags["space-provider"] === true;
  const [astray] = (isProvider ? OF_SERVERS : OF_PROVIDERS).filter((name) => flags[name] !== undefined);
  if (astray !== undefined)
    throw new UsageError(
      isProvider
        ? `--${astray} is about API servers: leave it out`
        : `--${astray} is about providers: add --space-provider`,
    );
  if (!isProvider) return undefined;
  const { parent, write = false, "ready-within": within } = flags;
  const seconds = Number(within ?? "300");
  if (!(seconds > 0 && seconds < 1e6)) throw new UsageError("--ready-within: give seconds, as in 300");
  return { write, ...(parent !== undefined && { parent }), deadlines: { ready: seconds * 1000 } };
}
