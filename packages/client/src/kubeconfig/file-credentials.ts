import type { Credentials } from "@virtual-workspaces/transport";
import { UserCredentials } from "./credentials.ts";
import { FreshFile } from "./fresh-file.ts";

/** Files of a client certificate and its key, PEM. */
export interface CertificateFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

/**
 * Who has a client certificate, as an upstream's `credentials`. The files are read again when they change, a second later at most.
 * Requests fail as long as they have never been readable.
 */
export function fileCredentials({ certFile, keyFile }: CertificateFiles): Credentials {
  const [cert, key] = [new FreshFile(certFile, "certFile"), new FreshFile(keyFile, "keyFile")];
  return new UserCredentials([
    {
      get: async () => ({ cert: await cert.text(), key: await key.text() }),
      refused: () => {
        cert.forget();
        key.forget();
      },
    },
  ]);
}
