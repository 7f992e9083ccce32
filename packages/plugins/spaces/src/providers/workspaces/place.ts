/** A server's URL without the workspace that it leads to. */
export function hostOf(server: string): string {
  const at = server.indexOf("/clusters/");
  return (at < 0 ? server : server.slice(0, at)).replace(/\/+$/, "");
}
