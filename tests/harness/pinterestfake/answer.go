package pinterestfake

import (
	"encoding/json"
	"net/http"
)

func encode(a answer) []byte {
	if a.body == nil {
		return nil
	}
	data, err := json.Marshal(a.body)
	if err != nil {
		panic(err)
	}
	return data
}

func write(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(encode(answer{status, body}))
}
