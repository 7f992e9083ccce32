import type { Credentials } from "@virtual-workspaces/testing";
import { UsageError } from "../process/failure.ts";
import { contentOf } from "../process/files.ts";
import { type ConformanceFlags, SERVER } from "./flags.ts";

/** Returns the credentials of the flags. @throws UsageError */
export function credentialsOf(flags: ConformanceFlags): Credentials {
  const { "client-certificate": cert, "client-key": key, "tls-server-name": serverName } = flags;
  if ((cert === undefined) !== (key === undefined))
    throw new UsageError("--client-certificate and --client-key must be set together");
  return {
    ...fromFile("ca", flags["certificate-authority"], "certificate-authority"),
    ...fromFile("clientCert", cert, "client-certificate"),
    ...fromFile("clientKey", key, "client-key"),
    ...fromFile("token", flags["token-file"], "token-file"),
    ...(serverName === undefined ? {} : { serverName }),
    insecureSkipTlsVerify: flags["insecure-skip-tls-verify"] ?? false,
  };
}

/** Returns the content of a file under a name, or an empty object without a file. */
export function fromFile<Name extends string>(
  name: Name,
  path: string | undefined,
  flag: string,
): { [N in Name]?: string } {
  return path === undefined ? {} : ({ [name]: contentOf(path, flag).trim() } as { [N in Name]?: string });
}

/** Returns the flags of the connection as they were given, for a command to copy. */
export function connectionFlags(flags: ConformanceFlags): readonly string[] {
  return Object.keys(SERVER).flatMap((name) => {
    const value = flags[name as keyof typeof SERVER];
    if (value === undefined || value === false) return [];
    return value === true ? [`--${name}`] : [`--${name}=${value}`];
  });
}
