// Puts the token on requests of a client that cannot send one (the conformance suite).
//
// usage: token.mjs SERVER-PORT TOKEN    listens on a free port of 127.0.0.1, which it prints
//
// Everything else passes as it came, in both directions, departures too.

import { createServer, request } from "node:http";

const [port, token] = process.argv.slice(2);

const server = createServer((from, to) => {
  const headers = { ...from.headers, authorization: `Bearer ${token}` };
  const on = request({ host: "127.0.0.1", port, method: from.method, path: from.url, headers }, (answer) => {
    to.writeHead(answer.statusCode, answer.headers);
    to.flushHeaders();
    answer.pipe(to);
  });
  on.on("error", () => to.destroy());
  to.on("close", () => on.destroy());
  from.pipe(on);
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
