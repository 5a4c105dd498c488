/* What is under way, which a client does not end before. */
#include "pjrt/api.h"

/* A callback does not wait: the launches may be waiting for its worker. */
status api_client_take_off(PJRT_Client *client) {
  pthread_mutex_lock(&client->lock);
  while (client->in_flight >= API_MAX_IN_FLIGHT && !client->closed && !executor_on_worker())
    pthread_cond_wait(&client->landed, &client->lock);
  bool closed = client->closed;
  if (!closed) client->in_flight++;
  pthread_mutex_unlock(&client->lock);
  return closed ? status_make(STATUS_FAILED_PRECONDITION, "the client has been destroyed") : NULL;
}

void api_client_land(PJRT_Client *client) {
  pthread_mutex_lock(&client->lock);
  client->in_flight--;
  if (client->closed)
    pthread_cond_broadcast(&client->landed);
  else
    pthread_cond_signal(&client->landed);
  pthread_mutex_unlock(&client->lock);
}
