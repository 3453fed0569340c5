// A real authorization server (oidc-provider) and a protected resource for the auth tests.
// It listens on a loopback port from the system and prints one line of JSON: {"issuer", "realm", "port", "key"}.
// Two issuers are served, one at the root and one under /realms/x as Keycloak does. Logins need no user.
import { createServer } from 'node:http';
import { once } from 'node:events';
import { generateKeyPairSync } from 'node:crypto';
import { Provider } from 'oidc-provider';

const SCOPE = 'mcp:read mcp:write';
const PASSWORDS = { alice: 'correct horse' };
const counts = {};
const providers = {};

const server = createServer((req, res) => {
  route(req, res).catch((error) => {
    console.error(error);
    res.writeHead(500).end();
  });
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const { port } = server.address();
const origin = `http://127.0.0.1:${port}`;

// Signs the assertions of a client that has a key instead of a secret.
const key = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const jwks = { keys: [{ ...key.publicKey.export({ format: 'jwk' }), kid: 'key-1', use: 'sig', alg: 'ES256' }] };

// The clients registered by hand; all others register themselves.
const machine = { client_id: 'machine', client_secret: 'machine-secret', redirect_uris: [], response_types: [] };
const clients = [
  { ...machine, grant_types: ['client_credentials'], token_endpoint_auth_method: 'client_secret_post' },
  { ...machine, client_id: 'machine-basic', grant_types: ['client_credentials'] },
  {
    client_id: 'machine-key', redirect_uris: [], response_types: [], jwks,
    grant_types: ['client_credentials'], token_endpoint_auth_method: 'private_key_jwt',
  },
  { ...machine, client_id: 'app', grant_types: ['password', 'refresh_token'], token_endpoint_auth_method: 'client_secret_post' },
];

// Resources whose path ends in -short get tokens that live for five seconds. Our own server, which is at /mcp and verifies
// tokens itself, gets signed ones with its scopes.
function resourceServer(resource) {
  if (resource.endsWith('/mcp')) {
    return { scope: 'texts:read texts:write', audience: resource, accessTokenTTL: 600, accessTokenFormat: 'jwt' };
  }
  const ttl = resource.endsWith('-short') ? 5 : 600;
  return { scope: SCOPE, audience: resource, accessTokenTTL: ttl, accessTokenFormat: 'opaque' };
}

function provide(mount) {
  const provider = new Provider(origin + mount, {
    clients,
    cookies: { keys: ['not a secret'] },
    scopes: ['openid', 'offline_access'],
    // Keycloak puts the roles of a user here.
    claims: { openid: ['sub', 'realm_access'] },
    conformIdTokenClaims: false,
    findAccount: (ctx, id) => ({ accountId: id, claims: () => ({ sub: id, realm_access: { roles: ['admin', 'quintain:texts:read'] } }) }),
    interactions: { url: (ctx, interaction) => `${mount}/interaction/${interaction.uid}` },
    issueRefreshToken: (ctx, client) => client.grantTypeAllowed('refresh_token'),
    rotateRefreshToken: true,
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      introspection: { enabled: true },
      revocation: { enabled: true },
      registration: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => `${origin}/mcp-protected`,
        useGrantedResource: () => true,
        getResourceServerInfo: (ctx, resource) => resourceServer(resource),
      },
    },
  });
  provider.on('grant.success', (ctx) => {
    const grant = ctx.oidc.params.grant_type;
    counts[grant] = (counts[grant] ?? 0) + 1;
  });
  provider.registerGrantType('password', passwordGrant(provider), ['username', 'password', 'scope', 'resource'], ['resource']);
  providers[mount] = provider;
  return provider.callback();
}

// oidc-provider has no password grant, because OAuth 2.1 has none; users of the old one still need it.
const passwordGrant = (provider) => async (ctx) => {
  const { client, params } = ctx.oidc;
  if (PASSWORDS[params.username] !== params.password) {
    ctx.status = 400;
    ctx.body = { error: 'invalid_grant', error_description: 'wrong user name or password' };
    return;
  }
  const resource = [params.resource].flat()[0] || `${origin}/mcp-protected`;
  const grant = new provider.Grant({ accountId: params.username, clientId: client.clientId });
  grant.addResourceScope(resource, SCOPE);
  const grantId = await grant.save();
  const shared = { accountId: params.username, client, grantId, gty: 'password', scope: SCOPE };
  const access = new provider.AccessToken(shared);
  access.resourceServer = new provider.ResourceServer(resource, resourceServer(resource));
  const refresh = new provider.RefreshToken({ ...shared, resource });
  ctx.body = {
    access_token: await access.save(),
    refresh_token: await refresh.save(),
    expires_in: access.expiration,
    token_type: 'Bearer',
  };
};

// Logs everybody in as alice and consents to everything.
async function interact(provider, req, res) {
  const { prompt, params, session } = await provider.interactionDetails(req, res);
  if (prompt.name === 'login') {
    return provider.interactionFinished(req, res, { login: { accountId: 'alice' } });
  }
  const grant = new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
  grant.addOIDCScope('openid offline_access');
  for (const resource of [params.resource ?? []].flat()) grant.addResourceScope(resource, SCOPE);
  const consent = { grantId: await grant.save() };
  return provider.interactionFinished(req, res, { consent }, { mergeWithLastSubmission: true });
}

// A stand-in for an MCP server: 200 for a live token that was issued for it, 401 with a challenge otherwise.
async function protectedResource(req, res, path) {
  const token = /^Bearer (.+)$/.exec(req.headers.authorization ?? '')?.[1];
  for (const provider of token ? Object.values(providers) : []) {
    const found = (await provider.AccessToken.find(token)) ?? (await provider.ClientCredentials.find(token));
    if (found?.isValid && [found.aud].flat().includes(origin + path)) return json(res, 200, { ok: true });
  }
  const metadata = `${origin}/.well-known/oauth-protected-resource${path}`;
  res.setHeader('WWW-Authenticate', `Bearer error="invalid_token", scope="mcp:read", resource_metadata="${metadata}"`);
  return json(res, 401, { error: 'invalid_token' });
}

function json(res, status, body) {
  res.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
}

async function route(req, res) {
  const path = new URL(req.url, origin).pathname;
  const resource = /^\/.well-known\/oauth-protected-resource(\/mcp-.*)$/.exec(path)?.[1];
  if (path === '/counts') return json(res, 200, counts);
  if (path.startsWith('/mcp-')) return protectedResource(req, res, path);
  if (resource) {
    const issuer = resource.startsWith('/mcp-realm') ? `${origin}/realms/x` : origin;
    return json(res, 200, { resource: origin + resource, authorization_servers: [issuer], scopes_supported: ['mcp:read'] });
  }
  const mount = path.startsWith('/realms/x/') ? '/realms/x' : '';
  if (path.startsWith(`${mount}/interaction/`)) return interact(providers[mount], req, res);
  // oidc-provider finds its mount point by comparing these two.
  req.originalUrl = req.url;
  req.url = req.url.slice(mount.length);
  return callbacks[mount](req, res);
}

const callbacks = { '': provide(''), '/realms/x': provide('/realms/x') };
const pem = key.privateKey.export({ format: 'pem', type: 'pkcs8' });
console.log(JSON.stringify({ issuer: origin, realm: `${origin}/realms/x`, port, key: pem }));
// The test that started this peer holds the other end of stdin; when it is gone, so are we.
process.stdin.on('end', () => process.exit(0)).resume();
