import type { BinaryWriter } from "@bufbuild/protobuf/wire";
import * as rpc from "./generated/rpc.ts";

interface Codec<T> {
  encode(message: T): BinaryWriter;
  decode(bytes: Uint8Array): T;
}

/** Method of etcd's API: its path, and its encoding. */
export interface Method<In, Out> {
  readonly path: string;
  encode(message: In): Buffer;
  decode(bytes: Buffer): Out;
}

function method<In, Out>(path: string, request: Codec<In>, response: Codec<Out>): Method<In, Out> {
  return {
    path: `/etcdserverpb.${path}`,
    encode: (message) => asBuffer(request.encode(message).finish()),
    decode: (bytes) => response.decode(bytes),
  };
}

const asBuffer = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);

export const range: Method<rpc.RangeRequest, rpc.RangeResponse> = method(
  "KV/Range",
  rpc.RangeRequest,
  rpc.RangeResponse,
);
export const txn: Method<rpc.TxnRequest, rpc.TxnResponse> = method("KV/Txn", rpc.TxnRequest, rpc.TxnResponse);
export const compact: Method<rpc.CompactionRequest, rpc.CompactionResponse> = method(
  "KV/Compact",
  rpc.CompactionRequest,
  rpc.CompactionResponse,
);
export const watch: Method<rpc.WatchRequest, rpc.WatchResponse> = method(
  "Watch/Watch",
  rpc.WatchRequest,
  rpc.WatchResponse,
);
export const leaseGrant: Method<rpc.LeaseGrantRequest, rpc.LeaseGrantResponse> = method(
  "Lease/LeaseGrant",
  rpc.LeaseGrantRequest,
  rpc.LeaseGrantResponse,
);
export const leaseRevoke: Method<rpc.LeaseRevokeRequest, rpc.LeaseRevokeResponse> = method(
  "Lease/LeaseRevoke",
  rpc.LeaseRevokeRequest,
  rpc.LeaseRevokeResponse,
);
export const leaseKeepAlive: Method<rpc.LeaseKeepAliveRequest, rpc.LeaseKeepAliveResponse> = method(
  "Lease/LeaseKeepAlive",
  rpc.LeaseKeepAliveRequest,
  rpc.LeaseKeepAliveResponse,
);
export const leaseTimeToLive: Method<rpc.LeaseTimeToLiveRequest, rpc.LeaseTimeToLiveResponse> = method(
  "Lease/LeaseTimeToLive",
  rpc.LeaseTimeToLiveRequest,
  rpc.LeaseTimeToLiveResponse,
);
export const authenticate: Method<rpc.AuthenticateRequest, rpc.AuthenticateResponse> = method(
  "Auth/Authenticate",
  rpc.AuthenticateRequest,
  rpc.AuthenticateResponse,
);
export const status: Method<rpc.StatusRequest, rpc.StatusResponse> = method(
  "Maintenance/Status",
  rpc.StatusRequest,
  rpc.StatusResponse,
);
