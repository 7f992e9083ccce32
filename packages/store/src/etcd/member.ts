import {
  type ChannelCredentials,
  Client,
  type ClientDuplexStream,
  type ClientOptions,
  type ClientUnaryCall,
  connectivityState,
  credentials,
  Metadata,
  type ServiceError,
  status as Status,
} from "@grpc/grpc-js";
import { Refused } from "./errors.ts";
import { type Method, status } from "./methods.ts";
import type { Settings } from "./options.ts";

/** Time for a connection, and without any response before a health probe, in ms. */
const PATIENCE = 2000;
/** Time for a probe, which needs neither disk nor other members, in ms. */
const PROBE = 1500;

/** Options of one call. */
export interface CallOptions {
  readonly metadata: Metadata;
  /** Deadline of the `performance.now()` clock. */
  readonly deadline: number;
  readonly signal: AbortSignal | undefined;
}

/**
 * Member of etcd: a channel, and a health check. A member that hangs (stopped, cut off, swapping) keeps its connections and
 * never answers. If no call was answered for a while, a probe follows; if that fails too, all pending calls fail.
 */
export class Member implements Disposable {
  readonly name: string;
  readonly #client: Client;
  /** Called when pending calls were failed. */
  onhang: (() => void) | undefined;
  readonly #calls = new Set<ClientUnaryCall>();
  #guard: NodeJS.Timeout | undefined;
  /** Time since when calls have been pending without any response. */
  #silentSince = 0;

  constructor(address: string, settings: Settings) {
    this.name = `etcd at ${address}`;
    this.#client = new Client(address, channelCredentials(settings), channelOptions(settings));
  }

  /** Whether the channel is connected. */
  get connected(): boolean {
    return this.#client.getChannel().getConnectivityState(true) === connectivityState.READY;
  }

  /**
   * Connects before the first call is sent. Resolves even if that fails: calls then fail with the reason.
   *
   * @throws Refused after the timeout
   */
  connect(deadline: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const until = asDate(Math.min(deadline, performance.now() + PATIENCE));
      const look = (): void => {
        const channel = this.#client.getChannel();
        const state = channel.getConnectivityState(true);
        if (state !== connectivityState.IDLE && state !== connectivityState.CONNECTING) resolve();
        else
          channel.watchConnectivityState(state, until, (late) =>
            late === undefined ? look() : reject(new Refused(`no connection within ${PATIENCE} ms`)),
          );
      };
      look();
    });
  }

  /** Sends one call. Rejects with a `ServiceError`, or with the signal's reason. */
  call<In, Out>(method: Method<In, Out>, bytes: Buffer, options: CallOptions): Promise<Out> {
    const { metadata, deadline, signal } = options;
    if (this.#calls.size === 0) this.#silentSince = performance.now();
    return new Promise<Out>((resolve, reject) => {
      const abort = (): void => {
        call.cancel();
        reject(signal?.reason);
      };
      const done = (): void => {
        this.#calls.delete(call);
        signal?.removeEventListener("abort", abort);
      };
      const call = this.#client.makeUnaryRequest(
        method.path,
        asIs,
        method.decode,
        bytes,
        metadata,
        { deadline: asDate(deadline) },
        (error: ServiceError | null, answer?: Out) => {
          done();
          if (error === null) {
            this.#silentSince = performance.now();
            resolve(answer as Out);
          } else reject(error);
        },
      );
      this.#calls.add(call);
      this.#watchOut(PATIENCE);
      signal?.addEventListener("abort", abort, { once: true });
    });
  }

  /** Opens a bidirectional stream. */
  stream<In, Out>(method: Method<In, Out>, metadata: Metadata): ClientDuplexStream<In, Out> {
    return this.#client.makeBidiStreamRequest(method.path, method.encode, method.decode, metadata);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#guard);
    this.#giveUp();
    this.#client.close();
  }

  #watchOut(ms: number): void {
    this.#guard ??= setTimeout(() => this.#look(), ms).unref();
  }

  /** Probes the member if calls have been pending for too long. */
  #look(): void {
    this.#guard = undefined;
    if (this.#calls.size === 0) return;
    const left = this.#silentSince + PATIENCE - performance.now();
    if (left > 0) this.#watchOut(left);
    else this.#probe();
  }

  #probe(): void {
    const asked = status.encode({});
    const options = { deadline: Date.now() + PROBE };
    this.#client.makeUnaryRequest(status.path, asIs, status.decode, asked, new Metadata(), options, (error) => {
      if (error?.code === Status.DEADLINE_EXCEEDED) {
        this.#giveUp();
        this.onhang?.();
      } else {
        this.#silentSince = performance.now(); // any response counts, and so does a broken connection
        if (this.#calls.size > 0) this.#watchOut(PATIENCE);
      }
    });
  }

  #giveUp(): void {
    for (const call of [...this.#calls]) call.cancel();
  }
}

/** Converts to gRPC's deadline, which is wall-clock time and may shift. */
const asDate = (deadline: number): number => Math.ceil(Date.now() + deadline - performance.now());

const asIs = (bytes: Buffer): Buffer => bytes;

function channelCredentials({ secure, tls }: Settings): ChannelCredentials {
  if (!secure) return credentials.createInsecure();
  const bytes = (pem: string | Buffer | undefined): Buffer | null => (pem === undefined ? null : Buffer.from(pem));
  return credentials.createSsl(bytes(tls.ca), bytes(tls.key), bytes(tls.cert));
}

function channelOptions({ tls: { serverName } }: Settings): ClientOptions {
  return {
    "grpc.max_receive_message_length": -1,
    "grpc.max_send_message_length": -1,
    // A member that hangs does not answer pings either. etcd rejects more than one in 5 s as an attack.
    "grpc.keepalive_time_ms": 5500,
    "grpc.keepalive_timeout_ms": 3000,
    "grpc.initial_reconnect_backoff_ms": 50,
    "grpc.max_reconnect_backoff_ms": 1000,
    // `Members` decides about retries, by what may have been committed.
    "grpc.enable_retries": 0,
    "grpc.service_config_disable_resolution": 1,
    "grpc.use_local_subchannel_pool": 1,
    "grpc.enable_http_proxy": 0,
    ...(serverName !== undefined && {
      "grpc.ssl_target_name_override": serverName,
      "grpc.default_authority": serverName,
    }),
  };
}
