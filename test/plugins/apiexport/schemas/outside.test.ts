// The view of bound schemas in a separate server, while the workspaces' server comes and goes.
import { ApiModel, apiResourceSchemaView } from "@virtual-workspaces/apiexport";
import { staticTokens } from "@virtual-workspaces/framework";
import type { PeerQuestion, Peers } from "@virtual-workspaces/framework/request";
import { processMinter } from "@virtual-workspaces/framework/storage";
import { Upstream } from "@virtual-workspaces/transport";
import { expect } from "chai";
import { type PlainServer, startPlain } from "../../../_support/plain.ts";
import { type Relay, startRelay } from "../../../_support/relay.ts";
import { untilAnswer } from "../../../_support/until.ts";
import { startWorkspaces, type Workspaces } from "../../../workspace-server/support/workspaces.ts";
import { Consumer, SCHEMAS, schemasIn } from "../support/consumer.ts";
import { Provider } from "../support/provider.ts";

const WIDGETS = "v1.widgets.example.dev";

describe("the view of bound schemas in a separate server", function () {
  this.timeout(60_000);
  const errors: unknown[] = [];
  let workspaces: Workspaces;
  let server: PlainServer;
  let upstream: Upstream;
  let relay: Relay;
  let away = false;
  let provider: Provider;

  before(async () => {
    workspaces = await startWorkspaces();
    const credentials = { get: () => ({ headers: ["Authorization", "Bearer root"] }) };
    const port = Number(new URL(workspaces.url).port);
    relay = await startRelay(() => (away ? 1 : port));
    upstream = new Upstream({ url: `http://127.0.0.1:${relay.port}`, credentials });
    const onError = (error: unknown): void => void errors.push(error);
    const view = apiResourceSchemaView({ upstream, model: new ApiModel({ upstream, onError }), onError });
    const tokens = staticTokens({ alice: { name: "alice" }, bob: { name: "bob" } });
    server = await startPlain([view], { authentication: [tokens] });
    provider = await Provider.make(workspaces);
  });

  after(async () => {
    await server?.[Symbol.asyncDispose]();
    await upstream?.[Symbol.asyncDispose]();
    await relay?.[Symbol.asyncDispose]();
    await workspaces?.[Symbol.asyncDispose]();
  });

  async function made(name: string): Promise<Consumer> {
    const consumer = await Consumer.make(workspaces, name);
    await untilAnswer(
      () => server.get(consumer.url(SCHEMAS)),
      ({ status }) => status === 200,
    );
    return consumer;
  }

  it("continues when another server with a view of the same model closes", async () => {
    const model = new ApiModel({ upstream });
    const view = apiResourceSchemaView({ upstream, model });
    const other = await startPlain([apiResourceSchemaView({ upstream, model })]);
    await using kept = await startPlain([view]);
    const consumer = await made("shared");
    await untilAnswer(
      () => kept.get(consumer.url(SCHEMAS)),
      ({ status }) => status === 200,
    );
    await using watch = await kept.watch(
      consumer.url(`${SCHEMAS}?watch=true&fieldSelector=metadata.name%3D${WIDGETS}`),
    );
    expect((await other.get(consumer.url(SCHEMAS))).status).to.equal(200);
    await other[Symbol.asyncDispose]();
    await consumer.bind("widgets", `${provider.cluster}:widgets`);
    expect(await watch.take(1)).to.deep.equal([`ADDED ${WIDGETS}`]);
  });

  it("lets other processes request versions that they have issued", async () => {
    const asked: PeerQuestion[] = [];
    const peers: Peers = (question) => void asked.push(question);
    await using here = await startPlain([apiResourceSchemaView({ upstream })], { peers });
    const consumer = await made("spread");
    const { body } = await untilAnswer(
      () => here.get(consumer.url(`${SCHEMAS}?limit=1`)),
      ({ status }) => status === 200,
    );
    const next = encodeURIComponent(body.metadata.continue);
    expect((await here.get(consumer.url(`${SCHEMAS}?limit=1&continue=${next}`))).status).to.equal(200);
    const told = asked.map(({ virtualWorkspace, minter }) => [virtualWorkspace, minter]);
    expect(told.at(0)).to.deep.equal(["apiresourceschema", undefined]);
    expect(told.at(-1)).to.deep.equal(["apiresourceschema", processMinter.id]);
  });

  it("can be served by one server after another", async () => {
    const view = apiResourceSchemaView({ upstream });
    const consumer = await made("moving");
    for (const bound of [true, false]) {
      await using here = await startPlain([view]);
      await untilAnswer(
        () => here.get(consumer.url(SCHEMAS)),
        ({ status }) => status === 200,
      );
      if (bound) await consumer.bind("widgets", `${provider.cluster}:widgets`);
      else await consumer.unbind("widgets");
      await untilAnswer(
        () => here.get(consumer.url(`${SCHEMAS}?resourceVersion=0`)),
        (answer) => schemasIn(answer).includes(WIDGETS) === bound,
      );
    }
  });

  it("lists a new binding before its event arrives", async () => {
    const consumer = await made("eager");
    away = true;
    relay.cut();
    await consumer.bind("widgets", `${provider.cluster}:widgets`);
    away = false;
    expect(schemasIn(await server.get(consumer.url(SCHEMAS)))).to.deep.equal([WIDGETS]);
    expect((await server.get(consumer.url(`${SCHEMAS}/${WIDGETS}`))).status).to.equal(200);
  });

  it("answers 503 while the server is away, keeps watches open, and delivers missed events afterwards", async () => {
    const consumer = await made("patient");
    const watched = `${SCHEMAS}?watch=true&fieldSelector=metadata.name%3D${WIDGETS}`;
    await using watch = await server.watch(consumer.url(watched));
    away = true;
    relay.cut();
    const told = await server.get(consumer.url(SCHEMAS));
    expect([told.status, told.body.reason]).to.deep.equal([503, "ServiceUnavailable"]);
    expect(told.headers["retry-after"]).to.equal("1");
    expect(told.text).to.not.include("127.0.0.1");
    expect((await server.get(consumer.url(`${SCHEMAS}?resourceVersion=0`))).status).to.equal(200);
    await consumer.bind("widgets", `${provider.cluster}:widgets`);
    away = false;
    expect(await watch.take(1)).to.deep.equal([`ADDED ${WIDGETS}`]);
    expect(schemasIn(await server.get(consumer.url(SCHEMAS)))).to.deep.equal([WIDGETS]);
    expect(errors).to.not.deep.equal([]);
  });
});
