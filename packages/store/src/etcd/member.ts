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

/** How long a member may take for a connection, and leave calls without any answer before it is asked how it is, ms. */
const PATIENCE = 2000;
/** How long a member that lives may take to say how it is, which needs neither a disk nor the others, ms. */
const PROBE = 1500;

/** For one call. */
export interface CallOptions {
  readonly metadata: Metadata;
  /** When to give up, as of `performance.now()`. */
  readonly deadline: number;
  readonly signal: AbortSignal | undefined;
}

/**
 * One member of etcd: a channel to it, and whether it answers. One that hangs (stopped, cut off, swapping) keeps its
 * connections and lets calls wait; so when none has been answered for a while it is probed, and if that is not answered
 * either, all calls that wait for it fail.
 */
export class Member implements Disposable {
  readonly name: string;
  readonly #client: Client;
  /** Told when calls to it were given up. */
  onhang: (() => void) | undefined;
  readonly #calls = new Set<ClientUnaryCall>();
  #guard: NodeJS.Timeout | undefined;
  /** Since when calls wait without one being answered. */
  #silentSince = 0;

  constructor(address: string, settings: Settings) {
    this.name = `etcd at ${address}`;
    this.#client = new Client(address, channelCredentials(settings), channelOptions(settings));
  }

  /** Whether there is a connection. */
  get connected(): boolean {
    return this.#client.getChannel().getConnectivityState(true) === connectivityState.READY;
  }

  /**
   * Makes one, so that nothing is sent before there is. Resolves also when it cannot: calls then fail with the reason.
   *
   * @throws Refused when it takes too long
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

  /** Asks once. Rejects with a `ServiceError`, or with the signal's reason. */
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

  /** Opens a stream of messages both ways. */
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

  /** Probes it if calls have waited too long. */
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
        this.#silentSince = performance.now(); // any word will do, and also a broken connection
        if (this.#calls.size > 0) this.#watchOut(PATIENCE);
      }
    });
  }

  #giveUp(): void {
    for (const call of [...this.#calls]) call.cancel();
  }
}

/** What gRPC takes: a point of time by the clock on the wall, which may be set meanwhile. */
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
    // A member that hangs answers no ping either. etcd takes more than one in 5 s for an attack.
    "grpc.keepalive_time_ms": 5500,
    "grpc.keepalive_timeout_ms": 3000,
    "grpc.initial_reconnect_backoff_ms": 50,
    "grpc.max_reconnect_backoff_ms": 1000,
    // What is done again is decided in one place, by what may have been done.
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
