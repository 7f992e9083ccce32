import type { GATE_FLAGS } from "../flags/servers.ts";
import type { Values } from "../flags/table.ts";
import { UsageError } from "../process/failure.ts";

/** Effect of the feature gates. */
export interface Gates {
  /** Whether exports publish URLs in their own status. @default decided by the server */
  readonly exportURLs: boolean | undefined;
  /** Whether views may store resources of exports. */
  readonly virtualStorage: boolean;
  /** Whether ClusterCachedResources are served. They are off by default, as in kcp. */
  readonly cachedResources: boolean;
  /** Whether workspaces may be mounted. */
  readonly mounts: boolean;
  /** Whether workspace types may authenticate users. */
  readonly logins: boolean;
  /** Whether there are the pages `/statusz` and `/flagz`. They are on by default, as in Kubernetes since 1.36. */
  readonly statusz: boolean;
  readonly flagz: boolean;
  /** Warnings for the log. */
  readonly warnings: readonly string[];
}

const CACHE_APIS = "CacheAPIs";
const MOUNTS = "WorkspaceMounts";
const LOGINS = "WorkspaceAuthentication";
const EXPORT_URLS = "EnableDeprecatedAPIExportVirtualWorkspacesUrls";

const STATUSZ = "ComponentStatusz";
const FLAGZ = "ComponentFlagz";

const OURS: ReadonlySet<string> = new Set([CACHE_APIS, MOUNTS, LOGINS, EXPORT_URLS, STATUSZ, FLAGZ]);

/**
 * Reads the feature gates; the last value of each wins. Most of kcp's gates have no effect here, which causes warnings.
 *
 * @param fallback defaults
 * @throws UsageError
 */
export function gatesOf(flags: Values<typeof GATE_FLAGS>, fallback: Pick<Gates, "logins"> = { logins: true }): Gates {
  const gates = new Map(
    (flags["feature-gates"] ?? []).map((text): readonly [string, boolean] => {
      const [, name = "", value = ""] = /^([A-Za-z]+)=(true|false)$/i.exec(text) ?? [];
      if (name === "")
        throw new UsageError(
          `invalid value "${text}" for --feature-gates: use Name=true or Name=false, separated by commas`,
        );
      return [name, /^true$/i.test(value)];
    }),
  );
  const others = [...gates].filter(([name, on]) => on && !OURS.has(name));
  return {
    exportURLs: gates.get(EXPORT_URLS),
    virtualStorage: gates.get(CACHE_APIS) ?? true,
    cachedResources: gates.get(CACHE_APIS) ?? false,
    mounts: gates.get(MOUNTS) ?? true,
    logins: gates.get(LOGINS) ?? fallback.logins,
    statusz: gates.get(STATUSZ) ?? true,
    flagz: gates.get(FLAGZ) ?? true,
    warnings: others.map(([name]) => `feature gate ${name} has no effect in this server`),
  };
}
