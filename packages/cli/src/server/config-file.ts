import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { FileWatch, type Log, type MetricFamily } from "@virtual-workspaces/framework/server";

/** Options of a {@link ConfigFile}. */
export interface ConfigFileOptions {
  readonly subject: "authorization" | "authentication";
  readonly path: string;
  /** Content in use. */
  readonly text: string;
  /** Uses a new content. Throws if it is invalid: the previous one stays in use. */
  readonly use: (text: string) => Promise<void> | void;
}

const STATUSES = ["failure", "success"] as const;
type Status = (typeof STATUSES)[number];

/** Configuration in a file that is read again when it changes, as in Kubernetes, with Kubernetes' metrics. */
export class ConfigFile {
  readonly #options: ConfigFileOptions;
  /** Content that was read last, valid or not: an invalid one is reported once. */
  #read: string;
  #used: string;
  #unreadable = "";
  readonly #reloads = { failure: 0, success: 0 };
  /** Times of the last ones, in seconds since 1970. */
  readonly #last: { [S in Status]?: number } = {};
  #pending: Promise<void> = Promise.resolve();

  constructor(options: ConfigFileOptions) {
    this.#options = options;
    this.#read = options.text;
    this.#used = options.text;
  }

  /** Reads the file again whenever it changes, until disposed. */
  follow(log: Log): AsyncDisposable {
    const watch = new FileWatch([this.#options.path], () => {
      this.#pending = this.#pending.then(() => this.#check(log));
    });
    return {
      [Symbol.asyncDispose]: () => {
        watch[Symbol.dispose]();
        return this.#pending;
      },
    };
  }

  /** Returns the metrics. As in a kube-apiserver without an identity, they have no label `apiserver_id_hash`. */
  families(): readonly MetricFamily[] {
    const { subject } = this.#options;
    const about = `apiserver_${subject}_config_controller`;
    const labelNames = ["status"];
    return [
      {
        ...{ name: `${about}_automatic_reloads_total`, type: "counter", labelNames },
        help: `Reloads of the ${subject} configuration.`,
        samples: STATUSES.map((status) => ({ labels: [status], value: this.#reloads[status] })),
      },
      {
        ...{ name: `${about}_automatic_reload_last_timestamp_seconds`, type: "gauge", labelNames },
        help: `Time of the last reload of the ${subject} configuration.`,
        samples: STATUSES.flatMap((status) => {
          const value = this.#last[status];
          return value === undefined ? [] : [{ labels: [status], value }];
        }),
      },
      {
        ...{ name: `${about}_last_config_info`, type: "gauge", labelNames: ["hash"] },
        help: `SHA-256 of the ${subject} configuration in use.`,
        samples: [{ labels: [`sha256:${createHash("sha256").update(this.#used).digest("hex")}`], value: 1 }],
      },
    ];
  }

  async #check(log: Log): Promise<void> {
    const { subject, path, use } = this.#options;
    try {
      const text = readFileSync(path, "utf8");
      this.#unreadable = "";
      if (text === this.#read) return;
      this.#read = text;
      await use(text);
      this.#used = text;
      this.#count("success");
      log({ level: "info", message: `${subject} configuration reloaded`, file: path });
    } catch (error) {
      this.#count("failure");
      const { code, message } = error as NodeJS.ErrnoException;
      const isKnown = code !== undefined && message === this.#unreadable;
      if (code !== undefined) this.#unreadable = message;
      if (isKnown) return;
      const said = `${subject} configuration not reloaded, the previous one stays in use`;
      log({ level: "warn", message: said, file: path, error: message });
    }
  }

  #count(status: Status): void {
    this.#reloads[status]++;
    this.#last[status] = Date.now() / 1000;
  }
}
