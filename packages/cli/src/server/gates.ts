import type { GATE_FLAGS } from "../flags/servers.ts";
import type { Values } from "../flags/table.ts";
import { UsageError } from "../process/failure.ts";

/** What feature gates say. */
export interface Gates {
  /** Whether exports have URLs in their own status. @default the server's to say */
  readonly exportURLs: boolean | undefined;
  /** Whether views may keep resources of exports. */
  readonly virtualStorage: boolean;
  /** Whether workspaces may be mounted. */
  readonly mounts: boolean;
  /** Whether the types of workspaces say who may log in to them. */
  readonly logins: boolean;
  /** For the log. */
  readonly warnings: readonly string[];
}

const VIRTUAL_STORAGE = "CacheAPIs";
const MOUNTS = "WorkspaceMounts";
const LOGINS = "WorkspaceAuthentication";
const EXPORT_URLS = "EnableDeprecatedAPIExportVirtualWorkspacesUrls";

const OURS: ReadonlySet<string> = new Set([VIRTUAL_STORAGE, MOUNTS, LOGINS, EXPORT_URLS]);

/** In kcp the gate is about more. */
const HALF = `feature gate ${VIRTUAL_STORAGE}: views may keep resources of exports (storage.virtual), which needs no gate here; there is no cache.kcp.io`;

/**
 * The last that is said of each gate. Most of kcp's are for parts that are not here; what is said about them must not be lost.
 *
 * @param fallback what holds of gates that are not given
 * @throws UsageError
 */
export function gatesOf(flags: Values<typeof GATE_FLAGS>, fallback: Pick<Gates, "logins"> = { logins: true }): Gates {
  const gates = new Map(
    (flags["feature-gates"] ?? []).map((text): readonly [string, boolean] => {
      const [, name = "", value = ""] = /^([A-Za-z]+)=(true|false)$/i.exec(text) ?? [];
      if (name === "")
        throw new UsageError(`--feature-gates ${text}: write Name=true or Name=false, with commas between`);
      return [name, /^true$/i.test(value)];
    }),
  );
  const others = [...gates].filter(([name, on]) => on && !OURS.has(name));
  return {
    exportURLs: gates.get(EXPORT_URLS),
    virtualStorage: gates.get(VIRTUAL_STORAGE) ?? true,
    mounts: gates.get(MOUNTS) ?? true,
    logins: gates.get(LOGINS) ?? fallback.logins,
    warnings: [
      ...others.map(([name]) => `feature gate ${name} has no effect in this server`),
      ...(gates.get(VIRTUAL_STORAGE) === true ? [HALF] : []),
    ],
  };
}
