import { header, type ResponseHeaders } from "@virtual-workspaces/transport";

/** Answers whose `Location` says where to ask instead. */
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * Where an answer sends its client: as it came when it is a path, without the other server's own address, which clients do not
 * know. `undefined`: to another host. Clients would take what they have to say there, and we must not be who sends them
 * (CVE-2022-3172).
 */
export function locationOf(
  { status, headers }: { readonly status: number; readonly headers: ResponseHeaders },
  origin: string,
): string | undefined {
  if (headers["location"] === undefined) return "";
  const location = header(headers, "location") ?? "";
  if (!REDIRECTS.has(status) || location === "") return location;
  const leads = URL.canParse(location, origin) ? new URL(location, origin) : undefined;
  if (leads?.origin !== origin) return undefined;
  const isPath = !/^(?:[a-z][a-z0-9+.-]*:|[\\/]{2})/i.test(location.trim());
  return isPath ? location : leads.pathname + leads.search + leads.hash;
}
