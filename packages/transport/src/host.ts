/** The host of a URL, as who dials it or looks it up has it: an IPv6 address stands without its brackets. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, "");
}
