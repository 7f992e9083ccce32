import { UsageError } from "../usage.ts";
import type { Flags } from "./flags.ts";

/** What feature gates say. */
export interface Gates {
  /** Whether exports have URLs in their own status. @default the server's to say */
  readonly exportURLs: boolean | undefined;
  /** For the log. */
  readonly warnings: readonly string[];
}

const EXPORT_URLS = "EnableDeprecatedAPIExportVirtualWorkspacesUrls";

/**
 * The last that is said of each gate. Most of kcp's are for parts that are not here; what is said about them must not be lost.
 *
 * @throws UsageError
 */
export function gatesOf(flags: Flags): Gates {
  const gates = new Map(
    flags.list("feature-gates").map((text): readonly [string, boolean] => {
      const [, name = "", value = ""] = /^([A-Za-z]+)=(true|false)$/i.exec(text) ?? [];
      if (name === "")
        throw new UsageError(`--feature-gates ${text}: write Name=true or Name=false, with commas between`);
      return [name, /^true$/i.test(value)];
    }),
  );
  const others = [...gates].filter(([name, on]) => on && name !== EXPORT_URLS);
  return {
    exportURLs: gates.get(EXPORT_URLS),
    warnings: others.map(([name]) => `feature gate ${name} has no effect in this server`),
  };
}
