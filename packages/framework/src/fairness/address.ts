/**
 * What stands for one client among the addresses of a network: an IPv4 address, or the /64 of an IPv6 one, of which each
 * host can have as many as it likes. `undefined`: no address, as of a Unix socket.
 */
export function networkOf(address: string | undefined): string | undefined {
  if (address === undefined || !address.includes(":")) return address;
  // An IPv4 client of a socket that takes both.
  if (address.includes(".")) return address.slice(address.lastIndexOf(":") + 1);
  const [before = "", after] = address.replace(/%.*$/, "").split("::");
  const head = groups(before);
  const tail = after === undefined ? [] : groups(after);
  const all = [...head, ...Array.from({ length: Math.max(0, 8 - head.length - tail.length) }, () => "0"), ...tail];
  return `${all.slice(0, 4).join(":")}::/64`;
}

function groups(text: string): string[] {
  return text === "" ? [] : text.split(":");
}
