import { actingProtocols } from "../../api/acting-text.ts";
import { type Parameters, socketUrl } from "../../api/base.ts";
import { asStatusError, StatusError, send } from "../../api/client.ts";
import type { Status } from "../../api/types.ts";
import { texts as common } from "../../texts.ts";

/** How a session ended. */
export type SessionEnd =
  | { readonly kind: "exit"; readonly code: string }
  | { readonly kind: "failed"; readonly error: StatusError }
  | { readonly kind: "lost" }
  | { readonly kind: "closed" };

export interface ExecOptions {
  /** Path of the subresource `exec`. */
  readonly path: string;
  readonly container: string;
  readonly command: readonly string[];
  /** A terminal with input; else the command has no input, and standard error is apart. */
  readonly isTerminal: boolean;
  readonly onOpen: () => void;
  readonly onOutput: (bytes: Uint8Array, isError: boolean) => void;
  readonly onEnd: (end: SessionEnd) => void;
}

export interface ExecSession {
  write(text: string): void;
  resize(columns: number, rows: number): void;
  /** Ends the session. The container's runtime ends the input of the command. */
  close(): void;
}

/** Version 4 has no way to end the input alone, which this page does not need. */
const PROTOCOLS = ["v5.channel.k8s.io", "v4.channel.k8s.io"];
const [STDIN, STDOUT, STDERR, ERROR, RESIZE] = [0, 1, 2, 3, 4];
/** Bytes of one message: servers limit its size. */
const PIECE = 16 * 1024;

/** Runs a command in a container, over a WebSocket with Kubernetes' channels. */
export function openExec(options: ExecOptions): ExecSession {
  const { path, container, command, isTerminal, onOpen, onOutput, onEnd } = options;
  const parameters = { container, stdin: isTerminal, stdout: true, stderr: !isTerminal, tty: isTerminal };
  const url = socketUrl(path, parameters);
  for (const word of command) url.searchParams.append("command", word);
  const socket = new WebSocket(url, [...PROTOCOLS, ...actingProtocols()]);
  socket.binaryType = "arraybuffer";
  const stop = new AbortController();
  let [isOpen, hasEnded] = [false, false];
  const end = (how: SessionEnd) => {
    if (hasEnded) return;
    hasEnded = true;
    stop.abort();
    socket.close();
    onEnd(how);
  };
  const sendOn = (channel: number, bytes: Uint8Array) => {
    if (socket.readyState !== WebSocket.OPEN) return;
    const message = new Uint8Array(bytes.length + 1);
    message[0] = channel;
    message.set(bytes, 1);
    socket.send(message);
  };
  socket.onopen = () => {
    isOpen = true;
    onOpen();
  };
  socket.onmessage = ({ data }) => {
    if (!(data instanceof ArrayBuffer) || hasEnded) return;
    const bytes = new Uint8Array(data);
    const rest = bytes.subarray(1);
    if (bytes[0] === STDOUT || bytes[0] === STDERR) {
      if (rest.length > 0) onOutput(rest, bytes[0] === STDERR);
    } else if (bytes[0] === ERROR && rest.length > 0) end(endOf(new TextDecoder().decode(rest)));
  };
  socket.onclose = () => {
    if (hasEnded) return;
    if (isOpen) end({ kind: "lost" });
    else void explain(path, url, stop.signal).then((error) => end({ kind: "failed", error }));
  };
  return {
    write(text) {
      const bytes = new TextEncoder().encode(text);
      for (let at = 0; at < bytes.length; at += PIECE) sendOn(STDIN as number, bytes.subarray(at, at + PIECE));
    },
    resize(columns, rows) {
      const size = JSON.stringify({ Width: columns, Height: rows });
      sendOn(RESIZE as number, new TextEncoder().encode(size));
    },
    close: () => end({ kind: "closed" }),
  };
}

interface ExecStatus extends Status {
  readonly status?: string;
}

/** Reads the last message of a server: how the command ended. */
function endOf(text: string): SessionEnd {
  let status: ExecStatus;
  try {
    status = JSON.parse(text) as ExecStatus;
  } catch {
    status = { kind: "Status", message: text };
  }
  if (status.status === "Success") return { kind: "exit", code: "0" };
  const code = status.details?.causes?.find(({ reason }) => reason === "ExitCode")?.message;
  return code === undefined ? { kind: "failed", error: new StatusError(status) } : { kind: "exit", code };
}

/** A page does not see why a WebSocket was rejected: the same request without an upgrade, which runs nothing, tells. */
async function explain(path: string, url: URL, stop: AbortSignal): Promise<StatusError> {
  const parameters: Parameters = Object.fromEntries([...url.searchParams].filter(([name]) => name !== "command"));
  const command = url.searchParams.getAll("command").map((word) => `command=${encodeURIComponent(word)}`);
  try {
    const query = new URLSearchParams(parameters as Record<string, string>);
    const answer = await send(`${path}?${query}&${command.join("&")}`, { signal: stop });
    await answer.body?.cancel();
  } catch (cause) {
    const error = asStatusError(cause);
    if (!/upgrade/i.test(error.message)) return error;
  }
  return new StatusError({ kind: "Status", code: 0, reason: "NoWebSocket", message: common.errors.noWebSocket });
}
